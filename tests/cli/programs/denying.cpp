// denying CALL ERRNO COMMAND [ARGUMENT...]: runs COMMAND in a sandbox in which a system call fails.
// Exits with 77 where the kernel permits no sandbox.
#include <errno.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "testkit/seccomp.hpp"

namespace {

struct system_call {
  std::string_view name;
  long number;
};
constexpr system_call calls[] = {{"timerfd_create", SYS_timerfd_create},
                                 {"close_range", SYS_close_range},
                                 {"pidfd_open", SYS_pidfd_open},
                                 {"prctl", SYS_prctl},
                                 {"timer_create", SYS_timer_create},
                                 {"memfd_create", SYS_memfd_create},
                                 {"faccessat2", SYS_faccessat2},
                                 {"statx", SYS_statx}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const int error = std::string_view(argv[2]) == "EPERM" ? EPERM : ENOSYS;
  for (const system_call& call : calls) {
    if (call.name != argv[1]) continue;
    if (!holdfast::testkit::deny(call.number, error)) return 77;
    ::execvp(argv[3], argv + 3);
    return 127;
  }
  return 64;
}
