// Who holds a lock file together with others: byte locks behind its content.
//
// Locks of fcntl(2) by open file description (F_OFD_SETLK, Linux 3.15): like those of flock(2),
// with which they have nothing to do on a local file system, they end with the last copy of the
// descriptor, hence with their process and whatever inherited it. And they can be asked for without
// being taken, so who looks disturbs nobody. One file for all of it: the description that has the
// shared lock has the seats too, and a job that inherits it keeps both.
//
//   seats      one byte for each reader, or for each permit of a semaphore, write-locked by whoever
//              sits there: the first ones, so that a semaphore is full when all its seats are taken
//   guard      write-locked for the moment in which somebody comes in
//   line       write-locked by the first of those that wait for permits; others wait for this byte,
//              so a large request is not passed by small ones
//   announced  read-locked by readers and asked-for permits that wait, for holders to see
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

  outcome take_guard() noexcept;  // within a tenth of a second, else busy
  outcome await_guard() noexcept;
  void leave_guard() noexcept;

  outcome await_line() noexcept;
  void leave_line() noexcept;
  bool has_line() const noexcept;  // of others

  bool announce() noexcept;
  void withdraw() noexcept;
  bool has_announced() const noexcept;  // others

  // Whether another description has any of all this locked.
  bool are_used() const noexcept;
  // As others have taken them: the first of them from `from` on, or an empty range.
  range next_taken(std::uint32_t from) const noexcept;
  bool take(const range&) noexcept;  // with the guard
  void leave() noexcept;             // all that were taken, and the guard

 private:
  int fd_;
};

// Where the record of whoever sits on these begins in the file.
off_t record_of_byte(std::uint32_t seat) noexcept;

}  // namespace holdfast::file
