#include "backend/file/descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

namespace holdfast::file {

std::mutex& opening_mutex() {
  // Never destroyed: fork() may come after static destructors.
  static std::mutex& mutex = *new std::mutex;
  static const int installed =
      pthread_atfork([] { opening_mutex().lock(); }, [] { opening_mutex().unlock(); },
                     [] { opening_mutex().unlock(); });
  (void)installed;
  return mutex;
}

int above_standard(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(fd);
  errno = error;
  return higher;
}

descriptor_table::chunk::chunk() noexcept {
  for (slot& s : slots) s.store(-1, std::memory_order_relaxed);
}

descriptor_table::~descriptor_table() {
  for (chunk* c = first_.next.load(); c;) {
    chunk* const next = c->next.load();
    delete c;
    c = next;
  }
}

descriptor_table::slot& descriptor_table::free_slot() {
  for (chunk* c = &first_;; c = c->next.load(std::memory_order_relaxed)) {
    for (slot& s : c->slots)
      if (s.load(std::memory_order_relaxed) < 0) return s;
    if (!c->next.load(std::memory_order_relaxed))
      c->next.store(new chunk, std::memory_order_release);
  }
}

void descriptor_table::close_all() noexcept {
  for (chunk* c = &first_; c; c = c->next.load(std::memory_order_acquire)) {
    for (slot& s : c->slots) {
      const int fd = s.exchange(-1, std::memory_order_acquire);
      if (fd >= 0) ::close(fd);
    }
  }
}

void descriptor::reset() noexcept {
  if (fd_ < 0) return;
  const int before = errno;
  // In a fork's child close_all() has closed it, and the number may belong to another file by now.
  if (slot_->exchange(-1, std::memory_order_acq_rel) == fd_) {
    ::close(fd_);
    table_->open_.fetch_sub(1, std::memory_order_relaxed);
  }
  fd_ = -1;
  slot_ = nullptr;
  table_ = nullptr;
  errno = before;
}

}  // namespace holdfast::file
