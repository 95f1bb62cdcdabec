// Removes the files of locks that nobody uses, so that a directory does not fill up with names.
//
// The rule: a name changes its file (inode) only by somebody who has the old one locked
// exclusively, and every locker looks under its lock whether its file still has a name. So whoever
// was granted a lock holds it on the file that the name means, and whoever waited on a removed file
// finds it without a name and opens the new one.
//
//   step                                     | killed after it, this is left
//   -----------------------------------------+-------------------------------------------------
//   a  the claim's descriptors are closed;   | nothing: the kernel drops descriptors and locks
//      the files are opened anew, never made |
//   b  .probe, NAME.lock and NAME.waiters    | nothing
//      are locked exclusively, at once or    |
//      not at all                            |
//   c  NAME.lock is the directory's and has  | nothing
//      one name; its record is valid, or it  |
//      is empty; nobody sits or waits in it  |
//   d  .floor is raised to its number        | a floor above what was needed
//   e  NAME.lock, then NAME.waiters, are     | between the two: a NAME.waiters without a lock
//      removed; all are unlocked and closed  | file, which the next user of the name takes over
//
// Who may do what, and why it is safe:
// - Remove: whoever passes (b) and (c) on descriptions of its own. Not on the claim's: a job may
//   have a copy of that description, and LOCK_EX would then convert the job's lock instead of
//   failing because of it.
// - Create: anybody, without a lock, at any time at which the name has no file. Two that do so get
//   the same file. A new file's first number is above .floor, which is read under the lock on the
//   new file, hence after the raise (d) for the one that was removed before it was made.
// - Wait: on NAME.lock, behind NAME.waiters locked shared. Whoever is announced makes (b) fail.
//   Whoever is not yet announced wakes on a file without a name and goes to the new one.
// - Attempt once: a lock that is taken for the moment of a removal would be found busy; such an
//   attempt is made again while it shares .probe (probe_gate.hpp).
// - NAME.waiters by itself is a hint, and all who lock it look for its name too: a spare one may be
//   removed by whoever has it locked exclusively.
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
#include "backend/file/number_floor.hpp"

namespace holdfast::file {

class unused_files {
 public:
  using wall_time = std::chrono::microseconds;  // since 1970

  unused_files(descriptor_table& files, directory& place, std::string host)
      : files_(files), place_(place), floor_(place), host_(std::move(host)) {}

  // Whether files are removed here at all.
  bool on() const noexcept { return place_.removes_unused(); }
  const number_floor& floor() const noexcept { return floor_; }

  // The files of the lock with this file_stem(). True: they are removed. Without waiting: a file
  // that is in use, or was for this moment, stays.
  // `own` is for a mutant: the claim's descriptor.
  bool remove(const std::string& stem, wall_time, int own = -1) noexcept;
  // What crashes left, a few files at a time: called before a lock file is created, so that what is
  // left does not grow. Leaves alone what a living process has used within the last minute.
  void remove_some(wall_time) noexcept;
  // All that are unused: how many locks. Nothing: the directory cannot be read (errno).
  std::optional<std::size_t> remove_all(wall_time);

 private:
  struct page;  // some of the directory's entries
  bool open(page&);
  bool fill(page&, wall_time);
  bool is_left_over(const std::string& stem, std::string_view suffix, wall_time) const;
  bool remove_spare_waiters(const std::string& stem);

  descriptor_table& files_;
  directory& place_;
  number_floor floor_;
  const std::string host_;
  std::mutex looking_;
  std::optional<off_t> next_;  // where remove_some() looks on
};

}  // namespace holdfast::file
