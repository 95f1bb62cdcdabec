#include "backend/file/probe_gate.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "backend/file/naming.hpp"
#include "backend/file/repeated_calls.hpp"

namespace holdfast::file {
namespace {

// Retries briefly: a probe takes a few microseconds.
bool lock_briefly(int fd, int operation) noexcept {
  bool locked = false;
  retry_briefly([&] {
    locked = ::flock(fd, operation | LOCK_NB) == 0;
    return locked || (errno != EWOULDBLOCK && errno != EINTR);
  });
  return locked;
}

bool deleted(int fd) noexcept {
  struct stat st;
  return ::fstat(fd, &st) == 0 && st.st_nlink == 0;
}

}  // namespace

descriptor probe_gate::open_for_probing() { return place_.open_or_create(probe_file); }

void probe_gate::begin_probe(const descriptor& d) noexcept {
  if (d) lock_briefly(d.get(), LOCK_EX);
}

void probe_gate::end_probe(const descriptor& d) noexcept {
  if (d) ::flock(d.get(), LOCK_UN);
}

bool probe_gate::enter() {
  if (fd_ && deleted(fd_.get())) fd_.reset();
  if (!fd_) fd_ = open_for_probing();
  return fd_ && lock_briefly(fd_.get(), LOCK_SH);
}

void probe_gate::leave() noexcept { ::flock(fd_.get(), LOCK_UN); }

}  // namespace holdfast::file
