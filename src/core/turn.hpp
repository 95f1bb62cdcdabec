// One holder's stay in a cohort: what a lease points to.
#pragma once
#include <holdfast/lease.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <system_error>

#include "core/environment.hpp"
#include "core/fork.hpp"

namespace holdfast::core {
struct conversation;
}

namespace holdfast::inline v0::detail {

class slot;

// The atomics are read by any thread; everything else is guarded by the slot's lock.
class turn {
 public:
  enum class fate : unsigned char { held, lost, closed };

  explicit turn(slot& s) noexcept : home(s) {}
  void start_anew() noexcept;  // as freshly made

  bool held() const noexcept;
  std::error_code status() const noexcept;

  slot& home;
  const unsigned generation = core::fork_generation();
  std::atomic<std::uint32_t> leases{1};  // reacquired leases share their turn
  std::atomic<core::time_point> deadline{core::never};
  std::int64_t token = 0;
  core::duration ttl{};
  core::conversation* of = nullptr;
  std::atomic<fate> now{fate::held};
  bool renews = true;
  bool doubted = false;
  std::stop_source doubt{std::nostopstate};  // made when somebody asks for the token
  std::stop_source loss{std::nostopstate};
};

}  // namespace holdfast::inline v0::detail
