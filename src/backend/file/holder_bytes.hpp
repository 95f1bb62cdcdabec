// The joint holders of a lock file: byte locks behind its content.
//
// Locks of fcntl(2) by open file description (F_OFD_SETLK, Linux 3.15). Like the locks of flock(2),
// from which they are independent on a local file system, they end with the last copy of the
// descriptor, hence with their process and every process that inherited it. They can be queried
// without being locked, so that an inspection disturbs no holder. All are in one file: the
// description that has the shared lock has the holder bytes too, and a job that inherits it keeps
// both.
//
//   holders    one byte for each reader, or for each permit of a semaphore, write-locked by its
//              holder; the lowest free ones, so that a semaphore is full when all are taken
//   guard      write-locked for the moment in which a claim joins
//   queue      write-locked by the first waiter for permits; the others wait for this byte, so that
//              small requests do not overtake a large one
//   announced  read-locked by waiting readers and waiters for permits, for holders to see
#pragma once
#include <sys/types.h>

#include <cstdint>

namespace holdfast::file {

class holder_bytes {
 public:
  enum class outcome : unsigned char { done, busy, interrupted, failed };  // failed: see errno
  struct range {
    std::uint32_t first = 0, count = 0;
    std::uint32_t end() const noexcept { return first + count; }
    explicit operator bool() const noexcept { return count > 0; }
  };

  explicit holder_bytes(int fd) noexcept : fd_(fd) {}

  outcome take_guard() noexcept;  // waits a tenth of a second at most, else busy
  outcome await_guard() noexcept;
  void leave_guard() noexcept;

  outcome await_queue() noexcept;
  void leave_queue() noexcept;
  bool has_queue() const noexcept;  // another claim has it

  bool announce() noexcept;
  void withdraw() noexcept;
  bool has_announced() const noexcept;  // another claim has

  // Whether another open file description has locked any of these bytes.
  bool are_used() const noexcept;
  // The first range that others hold, from `from` on, or an empty range.
  range next_taken(std::uint32_t from) const noexcept;
  bool take(const range&) noexcept;  // with the guard held
  void leave() noexcept;             // all bytes taken, and the guard

 private:
  int fd_;
};

// Where the record of the holder of these bytes begins in the file.
off_t record_of_byte(std::uint32_t byte) noexcept;

}  // namespace holdfast::file
