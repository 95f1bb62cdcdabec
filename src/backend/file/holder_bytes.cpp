#include "backend/file/holder_bytes.hpp"

#include <errno.h>
#include <fcntl.h>

#include <optional>

#include "backend/file/record.hpp"
#include "backend/file/repeated_calls.hpp"

namespace holdfast::file {
namespace {

constexpr off_t first_byte = off_t{1} << 40;  // behind everything the file may contain
constexpr off_t holders_end = first_byte + permits_max;
constexpr off_t guard_byte = holders_end;
constexpr off_t queue_byte = guard_byte + 1;
constexpr off_t announced = guard_byte + 2;

struct flock bytes(short type, off_t from, off_t count) noexcept {
  struct flock f = {};
  f.l_type = type;
  f.l_whence = SEEK_SET;
  f.l_start = from;
  f.l_len = count;
  return f;
}

holder_bytes::outcome outcome_of(int result) noexcept {
  if (result == 0) return holder_bytes::outcome::done;
  if (errno == EAGAIN || errno == EACCES) return holder_bytes::outcome::busy;
  return errno == EINTR ? holder_bytes::outcome::interrupted : holder_bytes::outcome::failed;
}

holder_bytes::outcome set(int fd, int command, short type, off_t from, off_t count) noexcept {
  struct flock f = bytes(type, from, count);
  return outcome_of(::fcntl(fd, command, &f));
}

// A lock of another open file description that conflicts with a write lock there.
std::optional<struct flock> conflicting_lock(int fd, off_t from, off_t count) noexcept {
  struct flock f = bytes(F_WRLCK, from, count);
  if (::fcntl(fd, F_OFD_GETLK, &f) != 0 || f.l_type == F_UNLCK) return {};
  return f;
}

}  // namespace

off_t record_of_byte(std::uint32_t byte) noexcept {
  return (off_t{byte} + 1) * static_cast<off_t>(record_bytes);
}

holder_bytes::outcome holder_bytes::take_guard() noexcept {
  outcome o = outcome::busy;
  retry_briefly([&] {
    o = set(fd_, F_OFD_SETLK, F_WRLCK, guard_byte, 1);
    return o != outcome::busy && o != outcome::interrupted;
  });
  return o;
}

holder_bytes::outcome holder_bytes::await_guard() noexcept {
  return set(fd_, F_OFD_SETLKW, F_WRLCK, guard_byte, 1);
}
void holder_bytes::leave_guard() noexcept { set(fd_, F_OFD_SETLK, F_UNLCK, guard_byte, 1); }

holder_bytes::outcome holder_bytes::await_queue() noexcept {
  return set(fd_, F_OFD_SETLKW, F_WRLCK, queue_byte, 1);
}
void holder_bytes::leave_queue() noexcept { set(fd_, F_OFD_SETLK, F_UNLCK, queue_byte, 1); }
bool holder_bytes::has_queue() const noexcept {
  return conflicting_lock(fd_, queue_byte, 1).has_value();
}

bool holder_bytes::announce() noexcept {
  return set(fd_, F_OFD_SETLK, F_RDLCK, announced, 1) == outcome::done;
}
void holder_bytes::withdraw() noexcept { set(fd_, F_OFD_SETLK, F_UNLCK, announced, 1); }
bool holder_bytes::has_announced() const noexcept {
  return conflicting_lock(fd_, announced, 1).has_value();
}

bool holder_bytes::are_used() const noexcept {
  return conflicting_lock(fd_, first_byte, announced + 1 - first_byte).has_value();
}

// The kernel returns any conflicting lock: the range before it is queried again.
holder_bytes::range holder_bytes::next_taken(std::uint32_t from) const noexcept {
  const off_t begin = first_byte + from;
  range found;
  for (off_t end = holders_end; end > begin;) {
    const auto other = conflicting_lock(fd_, begin, end - begin);
    if (!other) break;
    const off_t first = other->l_start > begin ? other->l_start : begin;
    found = range{static_cast<std::uint32_t>(first - first_byte),
                  static_cast<std::uint32_t>(other->l_start + other->l_len - first)};
    end = first;
  }
  return found;
}

bool holder_bytes::take(const range& r) noexcept {
  return set(fd_, F_OFD_SETLK, F_WRLCK, first_byte + r.first, r.count) == outcome::done;
}

void holder_bytes::leave() noexcept {
  set(fd_, F_OFD_SETLK, F_UNLCK, first_byte, guard_byte + 1 - first_byte);
}

}  // namespace holdfast::file
