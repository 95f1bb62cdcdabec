// The signals of this process, read like a file: nothing is done inside a handler.
#pragma once
#include <signal.h>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

class signal_inbox {
 public:
  // Blocks INT, TERM, HUP, QUIT, TSTP, CONT and CHLD for this thread and those it starts; what the
  // caller had told us to ignore stays ignored. Also TTIN, TTOU and PIPE, which nobody reads: a
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
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

// Stops the process as the signal would have, if it was not blocked: not at all when no shell is
// there to continue it. Returns when it was continued.
void stop_by(int signal) noexcept;

}  // namespace holdfast::cli
