#include "backend/file/unused_files.hpp"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include <array>

#include "backend/file/flocked_file.hpp"
#include "backend/file/holder_bytes.hpp"
#include "backend/file/naming.hpp"
#include "backend/file/record.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {
namespace {

using core::mutant;
using core::planted;

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

}  // namespace holdfast::file
