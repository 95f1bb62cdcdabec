// flock(2) on a file, with nothing around it.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace bench {

class bare_flock {
 public:
  explicit bare_flock(const std::string& file)
      : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), file);
  }
  ~bare_flock() { close(fd_); }
  bare_flock(const bare_flock&) = delete;
  bare_flock& operator=(const bare_flock&) = delete;

  void lock() {
    while (flock(fd_, LOCK_EX) != 0)
      if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "flock");
  }
  void unlock() { flock(fd_, LOCK_UN); }
  int descriptor() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace bench
