// The open descriptors of a backend, kept in one table so that a fork's child can close them.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace holdfast::file {

class descriptor;

// A flock(2) lock lives until the last copy of its descriptor is closed, and a child of fork() has
// copies of all: if it did not close them, it would keep its parent's locks alive. The table never
// shrinks while the backend exists. Safe from any thread.
class descriptor_table {
 public:
  descriptor_table() = default;
  descriptor_table(const descriptor_table&) = delete;
  descriptor_table& operator=(const descriptor_table&) = delete;
  ~descriptor_table();

  // Opens by calling `open`, which returns a descriptor, or -1 with errno. No fork() of this
  // process comes between the opening and the entry in the table.
  template <class Open>
  descriptor open(Open&& open);

  void close_all() noexcept;  // in a fork's child: async-signal-safe, locks no mutex
  std::size_t open_count() const noexcept { return open_.load(std::memory_order_relaxed); }

 private:
  friend class descriptor;
  using slot = std::atomic<int>;
  struct chunk {
    chunk() noexcept;
    std::array<slot, 64> slots;
    std::atomic<chunk*> next{nullptr};
  };
  slot& free_slot();  // with mutex_ held

  std::mutex mutex_;
  std::atomic<std::size_t> open_{0};
  chunk first_;
};

// Owns one open file. Used by one thread at a time.
class descriptor {
 public:
  descriptor() noexcept = default;
  descriptor(descriptor&& other) noexcept { swap(other); }
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor(std::move(other)).swap(*this);
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  void reset() noexcept;  // keeps errno
  void swap(descriptor& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(slot_, other.slot_);
    std::swap(table_, other.table_);
  }

 private:
  friend class descriptor_table;
  int fd_ = -1;
  std::atomic<int>* slot_ = nullptr;
  descriptor_table* table_ = nullptr;
};

// Moves a descriptor of 0 to 2, as a program gets that was started without them, to a higher
// number: otherwise the program's output would go into a lock file.
int above_standard(int fd) noexcept;

// Locked from an opening until its entry in a table, and over every fork().
std::mutex& opening_mutex();

template <class Open>
descriptor descriptor_table::open(Open&& open) {
  descriptor d;
  const std::lock_guard for_forks(opening_mutex());
  const std::lock_guard guard(mutex_);
  slot& s = free_slot();  // first: it may throw
  const int fd = above_standard(open());
  if (fd < 0) return d;
  s.store(fd, std::memory_order_release);
  d.fd_ = fd;
  d.slot_ = &s;
  d.table_ = this;
  open_.fetch_add(1, std::memory_order_relaxed);
  return d;
}

}  // namespace holdfast::file
