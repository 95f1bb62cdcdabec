// A write to a closed connection, without the end of the process.
#pragma once
#include <signal.h>

#include <cerrno>
#include <ctime>

namespace holdfast::testkit {

// While it exists, a write of this thread to a pipe or a connection that its peer has closed only
// fails with EPIPE. The signal is not ignored: that would last in programs that are started
// meanwhile.
class without_broken_pipe_signal {
 public:
  without_broken_pipe_signal() {
    ::sigemptyset(&broken_pipe_);
    ::sigaddset(&broken_pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~without_broken_pipe_signal() {
    const timespec at_once{};
    while (::sigtimedwait(&broken_pipe_, nullptr, &at_once) < 0 && errno == EINTR) {}
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  without_broken_pipe_signal(const without_broken_pipe_signal&) = delete;
  without_broken_pipe_signal& operator=(const without_broken_pipe_signal&) = delete;

 private:
  sigset_t broken_pipe_, before_;
};

}  // namespace holdfast::testkit
