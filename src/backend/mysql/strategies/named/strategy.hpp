// Strategy `named`: a lock is a named lock of the server (GET_LOCK), and ends with the connection
// that took it. The server queues the waiters.
#pragma once
#include <string_view>

#include "backend/mysql/strategies/named/statements.hpp"
#include "backend/mysql/strategies/pinned/strategy.hpp"

namespace holdfast::mysql::named {

// Not breakable: KILL names a connection, which may hold another lock by then.
inline constexpr seam::capabilities abilities{
    .life = seam::lifetime::connection,
    .queue = seam::order::fifo,
    .contention = seam::contention_signal::silent,
    .modes = seam::bit_of(lock_mode::exclusive),
    .tokens = true,
    .durable = true,
    .processes = true,
};

class strategy final : public pinned::strategy {
 public:
  // The settings outlive it.
  strategy(base::environment&, const settings&);

  // lock_store
  const seam::capabilities& can() const noexcept override { return abilities; }
  void holders(std::string_view name, seam::holders_handler&) override;

  // transport_user
  void on_ready(time_point, event_queue&) override { finish_opening(); }

 private:
  const statements texts_;
};

}  // namespace holdfast::mysql::named
