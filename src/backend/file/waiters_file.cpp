#include "backend/file/waiters_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace holdfast::file {

bool waiters_file::open() {
  if (fd_) return true;
  fd_ = place_.open_or_create(file_.c_str());
  return static_cast<bool>(fd_);
}

bool waiters_file::deleted() const noexcept {
  struct stat st;
  return ::fstat(fd_.get(), &st) == 0 && st.st_nlink == 0;
}

waiters_file::outcome waiters_file::announce() {
  for (;;) {
    if (!open()) return outcome::failed;
    if (::flock(fd_.get(), LOCK_SH) != 0)
      return errno == EINTR ? outcome::interrupted : outcome::failed;
    if (!deleted()) return outcome::done;
    fd_.reset();
  }
}

bool waiters_file::announce_at_once() {
  if (!open() || ::flock(fd_.get(), LOCK_SH | LOCK_NB) != 0) return false;
  if (!deleted()) return true;
  fd_.reset();
  return false;
}

void waiters_file::withdraw() noexcept {
  if (fd_) ::flock(fd_.get(), LOCK_UN);
}

bool waiters_file::others_wait() {
  for (;;) {
    if (!open()) return true;
    if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) return true;
    ::flock(fd_.get(), LOCK_UN);
    if (!deleted()) return false;
    fd_.reset();
  }
}

waiters_file::outcome waiters_file::await_none() {
  if (!open()) return outcome::failed;
  if (::flock(fd_.get(), LOCK_EX) != 0)
    return errno == EINTR ? outcome::interrupted : outcome::failed;
  ::flock(fd_.get(), LOCK_UN);
  if (deleted()) fd_.reset();
  return outcome::done;
}

}  // namespace holdfast::file
