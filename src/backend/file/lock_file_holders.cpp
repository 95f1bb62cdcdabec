// The operations of lock_file for joint holders.
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "backend/file/lock_file.hpp"
#include "backend/file/release_notice.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {

bool lock_file::was_exclusive() {
  const auto found = read_unlocked();
  return found && found->as.how == lock_mode::exclusive;
}

std::optional<kind> lock_file::shared_by_others() {
  const auto found = read_unlocked();
  if (!found || found->as.how == lock_mode::exclusive) return {};
  if (!bytes().next_taken(0)) return {};
  return found->as;
}

lock_file::attempt lock_file::guard(bool blocks) {
  holder_bytes all = bytes();
  switch (blocks ? all.await_guard() : all.take_guard()) {
    case holder_bytes::outcome::done: has_bytes_ = true; return attempt::locked;
    case holder_bytes::outcome::interrupted: return attempt::interrupted;
    case holder_bytes::outcome::busy:
      trouble_ = {errc::unavailable, "a process that is stopped keeps others from coming in to " +
                                         path() + ": let it go on, or end it"};
      return attempt::busy;
    case holder_bytes::outcome::failed: break;
  }
  return failed_to("lock a part of");
}

// With the guard held, so nobody else claims bytes meanwhile. A reader takes one byte, anywhere; a
// claim for permits takes as many bytes as permits, within the semaphore's size, in one range or
// several: all or none.
lock_file::attempt lock_file::claim_bytes(const kind& as) {
  holder_bytes all = bytes();
  const bool reads = as.how == lock_mode::shared;
  const std::uint32_t end = reads ? permits_max : as.of;
  std::uint32_t wanted = reads ? 1 : as.permits;
  bytes_.clear();
  for (std::uint32_t at = 0; wanted > 0 && at < end;) {
    const auto taken = all.next_taken(at);
    const std::uint32_t free_to = taken ? std::min(taken.first, end) : end;
    const std::uint32_t count = std::min(free_to - at, wanted);
    if (count > 0) bytes_.push_back({at, count});
    wanted -= count;
    at = taken ? taken.end() : end;
  }
  if (wanted > 0) {
    bytes_.clear();
    return attempt::busy;
  }
  for (const holder_bytes::range& r : bytes_)
    if (!all.take(r)) return failed_to("lock a seat in");
  return attempt::locked;
}

bool lock_file::mark(const record_text& who) {
  struct stat before;
  if (::fstat(fd_.get(), &before) != 0) return fail("look at the lock file", errno);
  for (const holder_bytes::range& r : bytes_) {
    if (write_at(record_of_byte(r.first), who)) continue;
    const int error = errno;
    if (::ftruncate(fd_.get(), before.st_size) != 0) return fail("clear the lock file", errno);
    return fail("write the lock file", error);
  }
  bytes().leave_guard();
  return true;
}

void lock_file::release_bytes() noexcept {
  const bool frees = !bytes_.empty();
  has_bytes_ = false;
  bytes_.clear();
  holder_bytes all = bytes();
  all.leave();
  if (frees && all.has_line()) release_notice::notify(fd_.get());
}

}  // namespace holdfast::file
