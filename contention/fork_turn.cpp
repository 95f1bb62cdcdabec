#include "contention/fork_turn.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <holdfast/error.hpp>

#include <cerrno>
#include <system_error>

namespace holdfast::contention {
namespace {

// A child that hangs would keep the connections of its parent open.
constexpr unsigned child_bound_s = 20;

bool copy_is_no_lease(lease& copy) {
  const bool believes = copy.held();
  std::error_code ec;
  copy.release(ec);
  return !believes && ec == errc::forked;
}

}  // namespace

std::string fork_while_holding(lease& held, bool child_uses_lease) {
  const pid_t child = ::fork();
  if (child < 0) return {};  // this machine has no room for a process
  if (child == 0) {
    ::alarm(child_bound_s);
    ::_exit(child_uses_lease && !copy_is_no_lease(held) ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return "the child of a fork cannot be waited for";
  if (WIFSIGNALED(status))
    return "the child of a fork ended with signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "the child of a fork holds or releases its parent's lock";
}

}  // namespace holdfast::contention
