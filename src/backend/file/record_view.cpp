#include "backend/file/record_view.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace holdfast::file {

std::optional<std::span<const char>> record_view::read(int fd, descriptor_table& files,
                                                       const directory& place,
                                                       const std::string& file) {
  if (mapped_) return std::span(mapped_, record_bytes);
  if (std::exchange(read_before_, true)) map(fd, files, place, file);
  if (mapped_) return std::span(mapped_, record_bytes);
  const ssize_t n = ::pread(fd, read_.data(), read_.size(), 0);
  if (n < 0) return {};
  return std::span<const char>(read_.data(), static_cast<std::size_t>(n));
}

// Maps through a descriptor of its own: a mapping keeps its open file description alive, and in a
// fork's child that has closed the descriptor it would keep the lock.
void record_view::map(int fd, descriptor_table& files, const directory& place,
                      const std::string& file) {
  if (place.remote() || place.shared()) return;
  const descriptor other = files.open([&] {
    return ::openat(place.get(), file.c_str(),
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  });
  struct stat locked, st;
  if (!other || ::fstat(other.get(), &st) != 0 || ::fstat(fd, &locked) != 0) return;
  if (st.st_ino != locked.st_ino || st.st_dev != locked.st_dev) return;
  void* const p =
      ::mmap(nullptr, record_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, other.get(), 0);
  if (p != MAP_FAILED) mapped_ = static_cast<const char*>(p);
}

void record_view::forget() noexcept {
  if (mapped_) ::munmap(const_cast<char*>(mapped_), record_bytes);
  mapped_ = nullptr;
  read_before_ = false;
}

}  // namespace holdfast::file
