// The controlling terminal, as far as a shell cares for it.
#pragma once
#include <sys/types.h>
#include <termios.h>

#include "cli/file_descriptor.hpp"

namespace holdfast::cli {

class terminal {
 public:
  terminal() noexcept;  // there may be none: then nothing below does anything

  int fd() const noexcept { return fd_.get(); }
  bool belongs_to(pid_t group) const noexcept;  // it is the foreground group
  bool belongs_to_us() const noexcept;
  void give_to(pid_t group) const noexcept;  // SIGTTOU must be blocked
  void take_back() const noexcept;           // for our own group

  void remember_modes() noexcept;
  void restore_modes() const noexcept;  // what a job that was killed left behind

 private:
  file_descriptor fd_;
  termios modes_{};
  bool remembered_ = false;
};

}  // namespace holdfast::cli
