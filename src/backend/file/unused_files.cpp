#include "backend/file/unused_files.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <set>
#include <vector>

#include "backend/file/flocked_file.hpp"
#include "backend/file/holder_bytes.hpp"
#include "backend/file/naming.hpp"
#include "backend/file/record.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {

namespace {

using base::mutant;
using base::planted;

constexpr int yields_for_probe = 100;  // a removal or an inspection takes some microseconds

// A higher number, which no clock of this century gives, stays in its file: as the floor it would
// push up the numbers of all other locks.
constexpr std::int64_t floor_max = number_max / 2;

bool lock_probe(flocked_file& probe) noexcept {
  for (int i = 0; i < yields_for_probe; ++i) {
    if (probe.try_exclusive()) return true;
    ::sched_yield();
  }
  return false;
}

// The number of a lock file that nobody can need any more; 0: it is empty. The caller has locked
// it.
std::optional<std::int64_t> number_of_unused(int fd, const std::string& stem,
                                             std::size_t name_max) noexcept {
  if (holder_bytes(fd).are_used() && !planted(mutant::unlink_unlocked)) return {};
  std::array<char, record_bytes> text;
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  if (n == 0) return 0;  // created, and never granted
  if (n < 0) return {};
  const auto found = parse_record(std::span(text.data(), static_cast<std::size_t>(n)));
  if (!found || found->number > floor_max || file_stem(found->name, name_max) != stem) return {};
  return found->number;
}

constexpr int looks_per_creation = 8, removals_per_creation = 3;
constexpr std::chrono::minutes recent_use{1};
constexpr unsigned pages_at_first = 8;

bool is_alive(std::int64_t pid) noexcept {
  return ::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
}

// The stem of a lock's file, which is the name without `suffix`; empty: it is no lock's file.
std::string stem_of(std::string_view file, std::string_view& suffix) {
  for (const std::string_view one : {lock_suffix, waiters_suffix}) {
    suffix = one;
    if (file.size() > one.size() && file.ends_with(one))
      return std::string(file.substr(0, file.size() - one.size()));
  }
  return {};
}

}  // namespace

bool unused_files::remove(const std::string& stem, wall_time wall) noexcept try {
  if (!on()) return false;
  const std::string lock_name = stem + std::string(lock_suffix);
  const std::string waiters_name = stem + std::string(waiters_suffix);
  flocked_file probe(place_.open_or_create(probe_file));
  if (!probe || !lock_probe(probe)) return false;
  flocked_file lock(place_.open_existing(lock_name.c_str()));
  if (!lock) return errno == ENOENT && remove_spare_waiters(stem);
  if (!lock.try_exclusive() && !planted(mutant::unlink_unlocked)) return false;
  flocked_file waiters(place_.open_existing(waiters_name.c_str()));
  if (!waiters && errno != ENOENT) return false;
  if (waiters && !waiters.try_exclusive() && !planted(mutant::unlink_unlocked)) return false;

  if (!lock.is_named(place_, lock_name.c_str())) return false;
  const auto number = number_of_unused(lock.get(), stem, place_.name_max());
  if (!number || (*number > 0 && !floor_.raise(*number, host_, wall))) return false;
  if (::unlinkat(place_.get(), lock_name.c_str(), 0) != 0) return false;
  if (waiters && waiters.is_named(place_, waiters_name.c_str()))
    ::unlinkat(place_.get(), waiters_name.c_str(), 0);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool unused_files::remove_spare_waiters(const std::string& stem) {
  const std::string name = stem + std::string(waiters_suffix);
  flocked_file waiters(place_.open_existing(name.c_str()));
  return waiters && waiters.try_exclusive() && waiters.is_named(place_, name.c_str()) &&
         ::unlinkat(place_.get(), name.c_str(), 0) == 0;
}

// Some entries of the directory, as getdents(2) returns them.
struct unused_files::page {
  alignas(struct dirent64) std::array<char, 16384> bytes;
  ssize_t size = 0;
  descriptor of;

  bool read() noexcept {
    size = ::getdents64(of.get(), bytes.data(), bytes.size());
    return size > 0;
  }
  std::vector<const struct dirent64*> entries() const {
    std::vector<const struct dirent64*> all;
    for (ssize_t at = 0; at < size; at += all.back()->d_reclen)
      all.push_back(reinterpret_cast<const struct dirent64*>(bytes.data() + at));
    return all;
  }
};

bool unused_files::open(page& p) {
  p.of = files_.open(
      [this] { return ::openat(place_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  return static_cast<bool>(p.of);
}

// The next page for remove_some(). A process that creates one file only begins at a random page;
// otherwise all such processes would check the same few files.
bool unused_files::fill(page& p, wall_time wall) {
  if (!open(p)) return false;
  if (next_) {
    if (::lseek(p.of.get(), *next_, SEEK_SET) >= 0 && p.read()) return true;
  } else {
    for (auto left = static_cast<unsigned>(wall.count()) % pages_at_first; p.read(); --left)
      if (left == 0) return true;
  }
  // Opened again: Linux's ext4 reads nothing after a seek back from the end.
  return open(p) && p.read();
}

bool unused_files::is_left_over(const std::string& stem, std::string_view suffix,
                                wall_time wall) const {
  struct stat st;
  const descriptor lock = place_.open_existing((stem + std::string(lock_suffix)).c_str());
  if (!lock) return errno == ENOENT;
  if (suffix != lock_suffix || ::fstat(lock.get(), &st) != 0)
    return false;  // it is found by its lock file
  std::array<char, record_bytes> text;
  const ssize_t n = ::pread(lock.get(), text.data(), text.size(), 0);
  if (n == 0) return wall - std::chrono::seconds(st.st_mtim.tv_sec) > recent_use;
  const auto found = parse_record(std::span(text.data(), static_cast<std::size_t>(n > 0 ? n : 0)));
  if (!found) return false;
  const auto age = wall - found->since;
  const bool is_recent = age >= age.zero() && age < recent_use;
  return !is_recent || (found->host == host_ && !is_alive(found->pid));
}

void unused_files::remove_some(wall_time wall) noexcept try {
  if (!on()) return;
  const std::unique_lock alone(looking_, std::try_to_lock);
  if (!alone) return;
  page p;
  const bool at_first = !next_;
  if (!fill(p, wall)) return;
  const auto entries = p.entries();
  int looks = 0, removed = 0;
  const std::size_t first = at_first ? static_cast<std::size_t>(wall.count()) % entries.size() : 0;
  for (std::size_t i = first; i < first + entries.size(); ++i) {
    const struct dirent64& entry = *entries[i % entries.size()];
    next_ = entry.d_off;
    std::string_view suffix;
    const std::string stem = stem_of(entry.d_name, suffix);
    if (stem.empty()) continue;
    if (is_left_over(stem, suffix, wall) && remove(stem, wall)) ++removed;
    if (++looks == looks_per_creation || removed == removals_per_creation) break;
  }
} catch (const std::bad_alloc&) {
  next_.reset();
}

std::optional<std::size_t> unused_files::remove_all(wall_time wall) {
  page p;
  if (!open(p)) return {};
  std::set<std::string> stems;  // collected first: removing entries may hide others from getdents
  while (p.read()) {
    for (const struct dirent64* const entry : p.entries()) {
      std::string_view suffix;
      auto stem = stem_of(entry->d_name, suffix);
      if (!stem.empty()) stems.insert(std::move(stem));
    }
  }
  if (p.size < 0) return {};
  std::size_t removed = 0;
  for (const std::string& stem : stems) removed += remove(stem, wall) ? 1 : 0;
  return removed;
}

}  // namespace holdfast::file
