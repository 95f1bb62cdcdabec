// Repeats a system call that a signal has interrupted.
#pragma once
#include <cerrno>

namespace holdfast::file {

// Returns what the call returned: negative is a failure, and errno says which.
template <class Call>
auto repeat_interrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace holdfast::file
