#include <holdfast/clock.hpp>

#include <time.h>

namespace holdfast {
inline namespace v0 {

lease_clock::time_point lease_clock::now() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_BOOTTIME, &t);
  return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

}  // namespace v0
}  // namespace holdfast
