#include "backend/file/probe_gate.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <string>

#include "backend/file/naming.hpp"

namespace holdfast::file {
namespace {

// A probe takes a few microseconds, unless its thread has to let others run meanwhile.
constexpr int yields_max = 100;
constexpr int naps_max = 100;
constexpr struct timespec nap = {0, 1'000'000};

bool lock_soon(int fd, int how) noexcept {
  for (int i = 0; i < yields_max + naps_max; ++i) {
    if (::flock(fd, how | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK && errno != EINTR) return false;
    if (i < yields_max) {
      ::sched_yield();
    } else {
      ::nanosleep(&nap, nullptr);
    }
  }
  return false;
}

bool deleted(int fd) noexcept {
  struct stat st;
  return ::fstat(fd, &st) == 0 && st.st_nlink == 0;
}

}  // namespace

descriptor probe_gate::open_for_probing() {
  return files_.open([this] {
    return ::openat(place_.get(), std::string(probe_file).c_str(),
                    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  });
}

void probe_gate::begin_probe(const descriptor& d) noexcept {
  if (d) lock_soon(d.get(), LOCK_EX);
}

void probe_gate::end_probe(const descriptor& d) noexcept {
  if (d) ::flock(d.get(), LOCK_UN);
}

bool probe_gate::enter() {
  if (fd_ && deleted(fd_.get())) fd_.reset();
  if (!fd_) fd_ = open_for_probing();
  return fd_ && lock_soon(fd_.get(), LOCK_SH);
}

void probe_gate::leave() noexcept { ::flock(fd_.get(), LOCK_UN); }

}  // namespace holdfast::file
