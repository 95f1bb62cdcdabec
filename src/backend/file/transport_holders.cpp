// The part of a lock file that those use who hold it together.
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "backend/file/release_notice.hpp"
#include "backend/file/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {

bool lock_file::was_exclusive() {
  const auto found = read_unlocked();
  return found && found->as.how == lock_mode::exclusive;
}

std::optional<kind> lock_file::shared_by_others() {
  const auto found = read_unlocked();
  if (!found || found->as.how == lock_mode::exclusive) return {};
  if (!seating().next_taken(0)) return {};
  return found->as;
}

lock_file::attempt lock_file::guard(bool blocks) {
  seats all = seating();
  switch (blocks ? all.await_guard() : all.take_guard()) {
    case seats::outcome::done: has_seats_ = true; return attempt::locked;
    case seats::outcome::interrupted: return attempt::interrupted;
    case seats::outcome::busy:
      trouble_ = {errc::unavailable, "a process that is stopped keeps others from coming in to " +
                                         path() + ": let it go on, or end it"};
      return attempt::busy;
    case seats::outcome::failed: break;
  }
  return failed_to("lock a part of");
}

// With the guard, so nobody else sits down meanwhile. One for a reader, anywhere; else as many as
// permits, among so many as there are, in one piece or several: all or none.
lock_file::attempt lock_file::sit(const kind& as) {
  seats all = seating();
  const bool reads = as.how == lock_mode::shared;
  const std::uint32_t end = reads ? permits_max : as.of;
  std::uint32_t wanted = reads ? 1 : as.permits;
  seats_.clear();
  for (std::uint32_t at = 0; wanted > 0 && at < end;) {
    const auto taken = all.next_taken(at);
    const std::uint32_t free_to = taken ? std::min(taken.first, end) : end;
    const std::uint32_t count = std::min(free_to - at, wanted);
    if (count > 0) seats_.push_back({at, count});
    wanted -= count;
    at = taken ? taken.end() : end;
  }
  if (wanted > 0) {
    seats_.clear();
    return attempt::busy;
  }
  for (const seats::range& r : seats_)
    if (!all.take(r)) return failed_to("lock a seat in");
  return attempt::locked;
}

bool lock_file::mark(const record_text& who) {
  struct stat before;
  if (::fstat(fd_.get(), &before) != 0) return fail("look at the lock file", errno);
  for (const seats::range& r : seats_) {
    if (write_at(record_of_seat(r.first), who)) continue;
    const int error = errno;
    if (::ftruncate(fd_.get(), before.st_size) != 0) return fail("clear the lock file", errno);
    return fail("write the lock file", error);
  }
  seating().leave_guard();
  return true;
}

void lock_file::leave_seats() noexcept {
  const bool frees = !seats_.empty();
  has_seats_ = false;
  seats_.clear();
  seats all = seating();
  all.leave();
  if (frees && all.has_line()) bell::ring(fd_.get());
}

}  // namespace holdfast::file
