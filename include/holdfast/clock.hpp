// The clock that leases are measured with.
#pragma once
#include <holdfast/export.hpp>

#include <chrono>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// CLOCK_BOOTTIME: never set back, and it goes on counting while the machine is suspended, so a
// lease that ran out in a suspend is seen to have run out. Meets the named requirement Clock.
// Not called `clock`: ::clock() would make that name ambiguous. Safe from any thread.
struct lease_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<lease_clock>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

}  // namespace v0
}  // namespace holdfast
