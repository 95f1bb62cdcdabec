// Strategy `for-update`: a lock is the lock of a row, which a transaction of the holder's
// connection keeps. It ends with that transaction, and so with the connection.
#pragma once
#include <string_view>

#include "backend/mysql/strategies/for_update/statements.hpp"
#include "backend/mysql/strategies/pinned/strategy.hpp"

namespace holdfast::mysql::for_update {

// MySQL serves the waiters by the number of transactions that each of them keeps waiting.
inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::connection,
    .queue = seam::order::none,
    .contention = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared),
    .tokens = true,
    .durable = true,
    .processes = true,
    .own_reader_tokens = true,
    .writer_preference = true,
};

class strategy final : public pinned::strategy {
 public:
  // The settings outlive it.
  strategy(base::environment&, const settings&);

  // lock_store
  const seam::capabilities& can() const noexcept override { return abilities; }
  void holders(std::string_view name, seam::holders_handler&) override;

  // transport_user
  std::vector<std::string> schema() const override { return {texts_.create_table()}; }
  void on_ready(time_point now, event_queue&) override;

 private:
  // Replies to describe_table() and, if the table is missing, to create_table() and the second
  // describe_table().
  void on_opening_reply(const sql_reply&, const reply_context&) override;
  failure fault_of(const sql_reply& description) const;

  const statements texts_;
  bool creates_ = false;  // the table: requested
  bool has_created_ = false;
};

}  // namespace holdfast::mysql::for_update
