#include <holdfast/clock.hpp>

#include <time.h>

namespace holdfast {
inline namespace v0 {

lease_clock::time_point lease_clock::now() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

std::chrono::system_clock::time_point lease_clock::to_sys(time_point t) noexcept {
  using of_day = std::chrono::system_clock;
  if (t == time_point::max()) return of_day::time_point::max();
  if (t == time_point::min()) return of_day::time_point::min();
  return of_day::now() + std::chrono::duration_cast<of_day::duration>(t - now());
}

}  // namespace v0
}  // namespace holdfast
