// Removes the files of unused locks, so that a directory does not fill up with names.
//
// The rule: a name changes its file (inode) only by a process that has the old file locked
// exclusively, and every claim checks under its lock whether its file still has a name. So a
// granted lock is always on the file that the name refers to, and a claim that waited on a removed
// file finds it without a name and opens the new one.
//
//   step                                     | killed after it, this is left
//   -----------------------------------------+-------------------------------------------------
//   a  the claim's descriptors are closed;   | nothing: the kernel drops descriptors and locks
//      the files are opened again, never     |
//      created                               |
//   b  .probe, NAME.lock and NAME.waiters    | nothing
//      are locked exclusively, without       |
//      waiting                               |
//   c  NAME.lock is the directory's and has  | nothing
//      one name; its record is valid, or it  |
//      is empty; no holder or waiter has     |
//      bytes locked in it                    |
//   d  .floor is raised to its number        | a floor above what was needed
//   e  NAME.lock, then NAME.waiters, are     | between the two: a NAME.waiters without a lock
//      removed; all are unlocked and closed  | file, which the next user of the name takes over
//
// The permitted actions, and why they are safe:
// - Remove: a process that passes (b) and (c) on its own file descriptions, not on the claim's: a
//   job may have a copy of that description, and LOCK_EX would then convert the job's lock instead
//   of failing because of it.
// - Create: any process, without a lock, at any time at which the name has no file. Two that do so
//   get the same file. A new file's first number is above .floor, which is read under the lock on
//   the new file, hence after the raise (d) for the file that was removed before it was created.
// - Wait: on NAME.lock, behind NAME.waiters locked shared. An announced waiter makes (b) fail. A
//   waiter that is not yet announced wakes on a file without a name and opens the new one.
// - Attempt once: a lock that is locked for the moment of a removal would be found busy; such an
//   attempt is repeated with .probe locked shared (probe_gate.hpp).
// - NAME.waiters alone is a hint, and all that lock it check its name too: a spare one may be
//   removed by a process that has it locked exclusively.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"
#include "backend/file/directory_floor.hpp"

namespace holdfast::file {

class unused_files {
 public:
  using wall_time = std::chrono::microseconds;  // since 1970

  unused_files(descriptor_table& files, directory& place, std::string host)
      : files_(files), place_(place), floor_(place), host_(std::move(host)) {}

  // Whether files are removed here at all.
  bool on() const noexcept { return place_.removes_unused(); }
  const directory_floor& floor() const noexcept { return floor_; }

  // Removes the files of the lock with this file_stem(), and returns true if it did. Does not wait:
  // a file that is in use at this moment stays.
  bool remove(const std::string& stem, wall_time) noexcept;
  // Removes files that crashes left, a few at a time. Called before a lock file is created, so that
  // they do not accumulate. Spares files that a living process has used within the last minute.
  void remove_some(wall_time) noexcept;
  // Removes all that are unused, and returns how many locks. nullopt: the directory cannot be read
  // (errno).
  std::optional<std::size_t> remove_all(wall_time);

 private:
  struct page;  // some of the directory's entries
  bool open(page&);
  bool fill(page&, wall_time);
  bool is_left_over(const std::string& stem, std::string_view suffix, wall_time) const;
  bool remove_spare_waiters(const std::string& stem);

  descriptor_table& files_;
  directory& place_;
  directory_floor floor_;
  const std::string host_;
  std::mutex looking_;
  std::optional<off_t> next_;  // where remove_some() continues
};

}  // namespace holdfast::file
