// Strategy `row`: a lock is a row of a table of this library, which is created once and kept.
#pragma once
#include "backend/mysql/strategies/retrying/strategy.hpp"
#include "backend/mysql/strategies/row/statements.hpp"

namespace holdfast::mysql::row {

inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::ttl,
    .queue = seam::order::none,
    .wanted = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
};

class strategy final : public retrying::strategy {
 public:
  // The settings outlive it.
  strategy(base::environment&, const settings&);

  const seam::capabilities& can() const noexcept override { return abilities; }
  void on_ready(time_point now, event_queue&) override;  // probe, create, probe

 private:
  claims::retrying_reply read_try(const sql_reply&, std::uint8_t step,
                                  claims::retrying_reply) const override;
  void on_opening_reply(const sql_reply&, const reply_context&) override;

  const statements texts_;
  unsigned opening_step_ = 0;
};

}  // namespace holdfast::mysql::row
