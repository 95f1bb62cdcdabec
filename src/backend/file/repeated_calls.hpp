// Repeated system calls.
#pragma once
#include <sched.h>
#include <time.h>

#include <cerrno>

namespace holdfast::file {

// Repeats a call that a signal has interrupted. Returns what it returned: negative is a failure,
// and errno says which.
template <class Call>
auto repeat_interrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Retries while another process holds a lock for a few microseconds: calls `attempt` until it
// returns true, for about a tenth of a second. Returns whether it did.
template <class Attempt>
bool retry_briefly(Attempt&& attempt) {
  constexpr int yields_max = 100;
  constexpr int naps_max = 100;
  constexpr struct timespec nap = {0, 1'000'000};
  for (int i = 0; i < yields_max + naps_max; ++i) {
    if (attempt()) return true;
    if (i < yields_max) {
      ::sched_yield();
    } else {
      ::nanosleep(&nap, nullptr);
    }
  }
  return false;
}

}  // namespace holdfast::file
