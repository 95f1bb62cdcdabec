// Runs a test in the child of a fork.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace holdfast::unit_tests {

// Whether the test was true in a child, which did not crash.
inline bool is_true_in_a_child(const std::function<bool()>& test) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends the child if it hangs
    ::_exit(test() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace holdfast::unit_tests
