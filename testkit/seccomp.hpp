// A sandbox for tests: system calls that fail for this process and its children.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>

namespace holdfast::testkit {

// From here on the call of this number fails with `error`; with 0 it succeeds and does nothing.
// False where the kernel does not permit such a filter.
inline bool deny(long call, int error) noexcept {
  sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof lines / sizeof *lines, lines};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// The same for the start of threads.
inline bool deny_threads() noexcept { return deny(SYS_clone3, EAGAIN) && deny(SYS_clone, EAGAIN); }

}  // namespace holdfast::testkit
