#include "cli/terminal.hpp"

#include <fcntl.h>

namespace holdfast::cli {

terminal::terminal() noexcept : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

bool terminal::belongs_to(pid_t group) const noexcept {
  return fd_ && ::tcgetpgrp(fd_.get()) == group;
}

bool terminal::belongs_to_us() const noexcept { return belongs_to(::getpgrp()); }

void terminal::give_to(pid_t group) const noexcept {
  if (fd_) ::tcsetpgrp(fd_.get(), group);
}

void terminal::take_back() const noexcept { give_to(::getpgrp()); }

void terminal::remember_modes() noexcept {
  remembered_ = fd_ && ::tcgetattr(fd_.get(), &modes_) == 0;
}

void terminal::restore_modes() const noexcept {
  if (remembered_) ::tcsetattr(fd_.get(), TCSANOW, &modes_);
}

}  // namespace holdfast::cli
