// The clock that leases are measured with.
#pragma once
#include <holdfast/detail/export.hpp>

#include <chrono>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// CLOCK_BOOTTIME: it is never set back and keeps counting while the machine is suspended, so a
// lease that expires during a suspend is seen as expired afterwards.
//
// Meets the named requirement Clock. Not called `clock`, because ::clock() would make that name
// ambiguous. Safe to call from any thread.
struct lease_clock {
  // The members that Clock requires. Durations count nanoseconds.
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<lease_clock>;
  static constexpr bool is_steady = true;
  // Reads the clock.
  static time_point now() noexcept;
  // The time of day of a time point, as both clocks are now: a later change of the system's time
  // changes the result. time_point::max() and min() become those of system_clock.
  static std::chrono::system_clock::time_point to_sys(time_point) noexcept;
};

}  // namespace v0
}  // namespace holdfast
