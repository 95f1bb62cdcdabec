#include "backend/file/flocked_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "backend/file/repeated_calls.hpp"

namespace holdfast::file {

flocked_file::~flocked_file() {
  if (fd_) ::flock(fd_.get(), LOCK_UN);
}

bool flocked_file::try_exclusive() noexcept {
  return repeat_interrupted([this] { return ::flock(fd_.get(), LOCK_EX | LOCK_NB); }) == 0;
}

bool flocked_file::is_named(const directory& place, const char* file) const noexcept {
  struct stat ours, named;
  return ::fstat(fd_.get(), &ours) == 0 &&
         ::fstatat(place.get(), file, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev && ours.st_nlink == 1 &&
         S_ISREG(ours.st_mode);
}

}  // namespace holdfast::file
