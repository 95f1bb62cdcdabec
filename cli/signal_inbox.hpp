// The signals of this process, read like a file: nothing is done inside a handler.
#pragma once
#include <signal.h>

#include <algorithm>
#include <iterator>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

// They end a process by default. `run` passes them on to its job, which would otherwise outlive it.
inline constexpr int ending_signals[] = {SIGINT,    SIGTERM, SIGHUP,  SIGQUIT,  SIGUSR1,
                                         SIGUSR2,   SIGALRM, SIGPROF, SIGIO,    SIGPWR,
                                         SIGVTALRM, SIGXCPU, SIGXFSZ, SIGSTKFLT};

class signal_inbox {
 public:
  // Blocks ending_signals, TSTP, CONT and CHLD for this thread and those it starts. A signal that
  // the caller ignores stays ignored. Also TTIN, TTOU and PIPE, which nobody reads: a
  // background process may then write to its terminal and set the foreground group.
  signal_inbox();

  int fd() const noexcept { return fd_.get(); }
  int next() noexcept;  // the number of a signal; 0 when there is none

  const sigset_t& mask_of_caller() const noexcept { return mask_of_caller_; }
  bool caller_ignored_children() const noexcept { return caller_ignored_children_; }

 private:
  sigset_t mask_of_caller_{};
  bool caller_ignored_children_ = false;
  file_descriptor fd_;
};

constexpr bool asks_to_end(int signal) noexcept {
  return std::ranges::find(ending_signals, signal) != std::end(ending_signals);
}

// Stops the process as the signal would have, if it was not blocked: not at all when no shell is
// there to continue it. Returns when it was continued.
void stop_by(int signal) noexcept;

}  // namespace holdfast::cli
