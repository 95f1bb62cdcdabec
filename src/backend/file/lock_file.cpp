#include "backend/file/lock_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <algorithm>

#include "backend/file/error_text.hpp"
#include "backend/file/naming.hpp"
#include "backend/file/release_notice.hpp"
#include "backend/file/repeated_calls.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {

namespace {

// The time for which the directory's name may refer to another file before an uncontended acquire
// detects it: that check costs an eighth of a cycle. A deleted file is detected at once.
constexpr std::chrono::milliseconds look_through_every{10};
constexpr int openings_max = 100;

lock_file::attempt flocked(int fd, int operation) noexcept {
  if (::flock(fd, operation) == 0) return lock_file::attempt::locked;
  if (errno == EWOULDBLOCK) return lock_file::attempt::busy;
  return errno == EINTR ? lock_file::attempt::interrupted : lock_file::attempt::failed;
}

// fstat(2) without the times: querying them makes the next write record the time to the nanosecond
// and the file system journal it, which costs as much as the write itself.
bool looked(int fd, const char* name, struct statx& out) noexcept {
  const int flags = AT_SYMLINK_NOFOLLOW | (*name == '\0' ? AT_EMPTY_PATH : 0);
  return ::statx(fd, name, flags, STATX_TYPE | STATX_NLINK | STATX_INO | STATX_SIZE, &out) == 0;
}

dev_t device_of(const struct statx& st) noexcept {
  return makedev(st.stx_dev_major, st.stx_dev_minor);
}

}  // namespace

lock_file::lock_file(folder& f, std::string_view lock_name)
    : folder_(f),
      file_(file_stem(lock_name, f.place.name_max())),
      waiters_(f.place, file_ + std::string(waiters_suffix)) {
  file_ += lock_suffix;
}

bool lock_file::fail(std::string_view doing, int error) { return fail(doing, file_, error); }

bool lock_file::fail(std::string_view doing, std::string_view file, int error) {
  trouble_ = error_text(doing, folder_.place.path_of(file), error);
  return false;
}

bool lock_file::open(std::chrono::microseconds wall) {
  close();
  bool again = true;
  for (int i = 0; again && i < openings_max; ++i)
    if (try_open_once(again, wall)) return true;
  return false;
}

bool lock_file::try_open_once(bool& again, std::chrono::microseconds wall) {
  again = false;
  waiters_.close();  // it may belong to a directory that is no longer in use
  if (folder_.place.untrusted()) {
    trouble_ = *folder_.place.untrusted();
    return false;
  }
  if (!folder_.place.is_at_its_path()) {
    if (auto why = folder_.place.renew()) {
      trouble_ = std::move(*why);
      return false;
    }
  }
  fd_ = folder_.place.open_existing(file_.c_str());
  if (!fd_ && errno == ENOENT) {
    folder_.unused.remove_some(wall);
    fd_ = folder_.place.open_or_create(file_.c_str());
  }
  struct stat st;
  if (!fd_) {
    const int error = errno;
    again = error == ENOENT;  // the directory was deleted since
    return fail("open the lock file", error);
  }
  if (::fstat(fd_.get(), &st) != 0) return fail("examine the lock file", errno);
  if (const auto wrong = folder_.place.distrust_file(st); !wrong.empty()) {
    trouble_ = {errc::refused, "the lock file " + path() + ' ' + std::string(wrong)};
    fd_.reset();
    return false;
  }
  device_ = st.st_dev;
  inode_ = st.st_ino;
  looked_through_at_ = {};
  return true;
}

void lock_file::close() noexcept {
  view_.forget();
  bytes_.clear();
  has_bytes_ = false;
  fd_.reset();
}

void lock_file::discard(std::chrono::microseconds wall) noexcept try {
  const std::string stem = file_.substr(0, file_.size() - lock_suffix.size());
  close();
  waiters_.close();
  folder_.unused.remove(stem, wall);
} catch (const std::bad_alloc&) {
  close();
}

lock_file::attempt lock_file::failed_to(std::string_view doing) {
  fail(doing, errno);
  return attempt::failed;
}

lock_file::attempt lock_file::try_lock(bool shares) {
  const int operation = (shares ? LOCK_SH : LOCK_EX) | LOCK_NB;
  attempt a = flocked(fd_.get(), operation);
  while (a == attempt::interrupted) a = flocked(fd_.get(), operation);
  return a == attempt::failed ? failed_to("lock") : a;
}

lock_file::attempt lock_file::try_unprobed(bool shares) {
  return folder_.gate.unprobed([this, shares] { return try_lock(shares); });
}

lock_file::attempt lock_file::lock(bool shares) {
  const attempt a = flocked(fd_.get(), shares ? LOCK_SH : LOCK_EX);
  contended_ = true;
  return a == attempt::failed ? failed_to("lock") : a;
}

void lock_file::unlock() noexcept {
  if (has_bytes_) release_bytes();
  if (base::planted(base::mutant::file_release_only_closes) || ::flock(fd_.get(), LOCK_UN) != 0)
    close();
}

// Whether the directory's name refers to the locked file; nullopt: unknown.
std::optional<bool> lock_file::is_the_folders(struct statx& st, std::chrono::microseconds wall) {
  const auto since = wall - looked_through_at_;
  const bool is_checked = !base::planted(base::mutant::file_inode_not_checked);
  if (!is_checked || (!contended_ && since >= since.zero() && since < look_through_every)) {
    if (looked(fd_.get(), "", st))
      return st.stx_nlink > 0 || !is_checked || base::planted(base::mutant::nlink_not_checked);
    fail("examine the lock file", errno);
    return {};
  }
  contended_ = false;
  looked_through_at_ = wall;
  if (looked(folder_.place.get(), file_.c_str(), st))
    return st.stx_ino == inode_ && device_of(st) == device_ && folder_.place.is_at_its_path();
  if (errno == ENOENT) return false;
  fail("examine the lock file", errno);
  return {};
}

std::optional<observation> lock_file::look(const record_text& last, std::string_view lock_name,
                                           std::chrono::microseconds wall) {
  struct statx st;
  const auto same = is_the_folders(st, wall);
  if (!same) return {};
  observation seen{*same, content::garbage, 0, wall};
  if (!seen.same_file) return seen;
  was_empty_ = st.stx_size == 0;
  if (was_empty_) {
    const auto least = floor();
    if (!least) return {};
    seen.what = content::empty;
    seen.number = *least;
    return seen;
  }
  if (st.stx_size < record_bytes || st.stx_size % record_bytes != 0) return seen;

  const auto text = view_.read(fd_.get(), folder_.files, folder_.place, file_);
  if (!text) {
    fail("read the lock file", errno);
    return {};
  }
  if (last.number() > 0 && last.same_as(*text)) {
    seen.what = content::record;
    seen.number = last.number();
    seen.as = last.as();
  } else if (const auto found = parse_record(*text)) {
    seen.what = found->name == lock_name ? content::record : content::another;
    seen.number = found->number;
    seen.as = found->as;
  }
  return seen;
}

std::optional<std::int64_t> lock_file::floor() {
  const auto found = folder_.unused.floor().read();
  if (!found && errno != 0) fail("read", floor_file, errno);
  if (!found && errno == 0)
    trouble_ = {errc::refused, "the file " + folder_.place.path_of(floor_file) +
                                   " holds no record of holdfast: if this machine's clock was "
                                   "never set back, remove it"};
  return found;
}

std::optional<record> lock_file::read_unlocked() {
  struct statx st;
  if (!looked(fd_.get(), "", st) || st.stx_size < record_bytes) return {};
  const auto text = view_.read(fd_.get(), folder_.files, folder_.place, file_);
  return text ? parse_record(*text) : std::nullopt;
}

std::int64_t lock_file::number_in_file() {
  const auto found = read_unlocked();
  return found ? found->number : 0;
}

bool lock_file::write_at(off_t where, const record_text& record) {
  const auto text = record.bytes();
  const ssize_t n =
      repeat_interrupted([&] { return ::pwrite(fd_.get(), text.data(), text.size(), where); });
  if (n == static_cast<ssize_t>(text.size())) return true;
  errno = n < 0 ? errno : ENOSPC;
  return false;
}

bool lock_file::write(const record_text& record) {
  if (write_at(0, record)) return true;
  const int error = errno;
  if (was_empty_ && ::ftruncate(fd_.get(), 0) != 0) return fail("clear the lock file", errno);
  return fail("write the lock file", error);
}

bool lock_file::was_exclusive() {
  const auto found = read_unlocked();
  return found && found->as.mode == lock_mode::exclusive;
}

std::optional<kind> lock_file::shared_by_others() {
  const auto found = read_unlocked();
  if (!found || found->as.mode == lock_mode::exclusive) return {};
  if (!bytes().next_taken(0)) return {};
  return found->as;
}

lock_file::attempt lock_file::guard(bool blocks) {
  holder_bytes all = bytes();
  switch (blocks ? all.await_guard() : all.take_guard()) {
    case holder_bytes::outcome::done: has_bytes_ = true; return attempt::locked;
    case holder_bytes::outcome::interrupted: return attempt::interrupted;
    case holder_bytes::outcome::busy:
      trouble_ = {errc::unavailable,
                  "a stopped process blocks new holders of " + path() + ": resume it or end it"};
      return attempt::busy;
    case holder_bytes::outcome::failed: break;
  }
  return failed_to("lock a part of");
}

// With the guard held, so no other thread claims bytes meanwhile. A reader takes one byte,
// anywhere; a claim for permits takes as many bytes as permits, within the semaphore's size, in one
// range or several: all or none.
lock_file::attempt lock_file::claim_bytes(const kind& as) {
  holder_bytes all = bytes();
  const bool reads = as.mode == lock_mode::shared;
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
    if (!all.take(r)) return failed_to("lock a byte of");
  return attempt::locked;
}

bool lock_file::mark(const record_text& text) {
  struct stat before;
  if (::fstat(fd_.get(), &before) != 0) return fail("examine the lock file", errno);
  for (const holder_bytes::range& r : bytes_) {
    if (write_at(record_of_byte(r.first), text)) continue;
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
  if (frees && all.has_queue()) release_notice::notify(fd_.get());
}

}  // namespace holdfast::file
