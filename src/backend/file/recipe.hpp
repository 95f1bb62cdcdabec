// The lock algorithm on a file, without a file: (state, event) -> action, one at a time.
//
// Source: flock(2), Linux. The kernel keeps one exclusive lock per file and removes it when the
// last copy of the descriptor is closed, as the end of a process does. Two things it does not do.
// It does not say which file the directory's name refers to once the lock is granted: another
// process may have deleted or replaced the file, and then two processes would hold "the lock". And
// it does not number the holders. Hence, under the lock, the directory's file and its content are
// checked before the new number is written.
//
//   state      | event                   | action                     | next state
//   -----------+-------------------------+----------------------------+------------
//   free       | acquire, no descriptor  | open                       | opening
//   free       | acquire                 | try_lock                   | trying
//   free       | acquire, behind others  | wait                       | waiting
//   opening    | opened                  | try_lock, or wait          | trying, or waiting
//   trying     | busy, one attempt       | try_unprobed               | retrying_unprobed
//   trying     | busy                    | wait                       | waiting
//   trying     | locked                  | look                       | looking
//   retrying_unprobed  | locked                  | look                       | looking
//   retrying_unprobed  | busy                    | refuse: busy               | free
//   waiting    | locked                  | look                       | looking
//   waiting    | interrupted             | end                        | free
//   retrying_unprobed, | another: held as        | refuse: another_kind       | free
//   waiting    | another kind            |                            |
//   looking    | another file has the    | reopen (releases the lock) | opening
//              | name now                |                            |
//   looking    | ... more than 100 times | unlock                     | refusing: unsteady
//   looking    | content is no record    | unlock                     | refusing: garbage
//   looking    | record of another lock  | unlock                     | refusing: another
//   looking    | numbers used up         | unlock                     | refusing: exhausted
//   looking    | empty, or a record      | write: the next number     | writing
//   writing    | written                 | grant                      | held
//   writing    | failed                  | unlock                     | refusing: failed
//   held       | release                 | unlock                     | releasing
//   releasing  | unlocked                | end                        | free
//   refusing   | unlocked                | refuse                     | free
//   any other  | failed                  | unlock where locked,       | refusing, or free
//              |                         | else refuse: failed        |
//
// Readers and holders of permits hold the kernel's lock jointly, as a shared lock, which excludes
// exclusive claims. Each of them also has bytes in the file (holder_bytes.hpp), which show who the
// holders are and how many permits are taken. A claim joins under the file's guard. The first one
// writes a new number; a reader that joins readers takes their number, and each holder of permits
// takes a new one. What differs:
//
//   state      | event                   | action                     | next state
//   -----------+-------------------------+----------------------------+------------
//   trying     | busy, one attempt, or   | try_unprobed               | retrying_unprobed
//              | permits                 |                            |
//   trying     | busy                    | wait                       | waiting
//   retrying_unprobed  | busy                    | refuse: busy, or wait      | free, or waiting
//   trying,    | locked                  | guard                      | guarding
//   retrying_unprobed, |                         |                            |
//   waiting    |                         |                            |
//   guarding   | guarded                 | look                       | looking
//   guarding   | busy, one attempt       | unlock                     | refusing: failed
//   guarding   | busy                    | unlock                     | stepping_back
//   guarding   | interrupted             | unlock                     | releasing
//   looking    | held as another kind    | unlock                     | refusing: another_kind
//   looking    | others come first       | unlock                     | stepping_back, or refusing:
//              |                         |                            | busy (one attempt)
//   looking    | empty, or a record      | claim_bytes                | claiming
//   claiming   | full                    | unlock                     | stepping_back, or refusing:
//              |                         |                            | busy (one attempt)
//   claiming   | claimed, among readers  | mark                       | marking
//   claiming   | claimed                 | write                      | writing
//   writing    | written                 | mark                       | marking
//   marking    | written                 | grant                      | held
//   stepping_  | unlocked                | wait                       | waiting
//   back       |                         |                            |
//
// A holder killed between two steps leaves, at worst, a number that nobody was granted. A claim
// that is stopped while it has the guard keeps others from joining: their single attempts fail
// after a tenth of a second, their waits continue. When the file is deleted while it is held, later
// claims lock another file, as with any lock file; then two groups with two numbers, or more
// permits than there are, are held at a time. A shared lock is never converted into an exclusive
// one: the kernel releases it in between.
//
// The order of waiters: a writer is announced in NAME.waiters, and readers that arrive step back
// until a writer has had the lock, so that no stream of readers starves writers, nor the reverse;
// otherwise there is no order. Of the waiters for permits one is first in line and checks, when a
// holder releases or ends, whether it can have all its permits; the others wait to become first,
// and new ones step back. A stopped first waiter is overtaken once nobody holds anything for a
// second.
//
// The number: greater than that of the file and than any this claim was granted, and never below
// the clock in microseconds, because the file may be gone (a reboot empties /run/lock).
#pragma once
#include <chrono>
#include <cstdint>

#include "backend/file/record.hpp"

namespace holdfast::file {

enum class event : unsigned char {  // besides acquire() and looked()
  opened,
  locked,
  busy,
  another,
  guarded,
  claimed,
  full,
  interrupted,
  written,
  release,
  unlocked,
  failed,
};

enum class action : unsigned char {
  open,          // the directory's file -> opened, failed
  reopen,        // close the open file, which releases its lock, then as open
  try_lock,      // -> locked, busy, another, failed
  try_unprobed,  // the same, while no inspection holds it -> locked, busy, another, failed
  wait,          // until it is locked, or may be -> locked, another, interrupted, failed
  guard,         // -> guarded, busy, interrupted, failed
  look,          // -> looked, failed
  claim_bytes,   // -> claimed, full, failed
  write,         // number() -> written, failed
  mark,          // write the holder's records, release the guard -> written, failed
  unlock,        // -> unlocked (it cannot fail: otherwise the file is closed)
  grant,
  refuse,
  end,  // grant, refuse and end are the answers
};

enum class content : unsigned char { empty, record, garbage, another };

struct observation {       // what was read under the lock
  bool same_file = false;  // the directory's name still refers to the locked file
  content what = content::garbage;
  std::int64_t number = 0;           // of the record; empty file: the directory's floor
  std::chrono::microseconds wall{};  // since 1970
  // For joint holders:
  kind as{};                  // of the record
  bool taken = false;         // others hold bytes
  bool others_first = false;  // a waiter must be served before this claim
};

enum class reason : unsigned char {
  none,
  busy,
  failed,
  unsteady,
  garbage,
  another,
  another_kind,
  exhausted,
};

class recipe {
 public:
  enum class state : unsigned char {
    free,
    opening,
    trying,
    retrying_unprobed,
    waiting,
    guarding,
    looking,
    claiming,
    writing,
    marking,
    held,
    releasing,
    refusing,
    stepping_back,
  };
  struct request {
    bool one_attempt = false;
    bool behind = false;  // others wait, and come first
    bool is_open = false;
    kind as{};
  };

  action acquire(const request&) noexcept;
  action looked(const observation&) noexcept;
  action on(event) noexcept;

  state now() const noexcept { return state_; }
  std::int64_t number() const noexcept { return number_; }  // to be written, then granted
  reason why() const noexcept { return why_; }              // for refuse

 private:
  bool alone() const noexcept { return request_.as.mode == lock_mode::exclusive; }
  action looked_together(const observation&) noexcept;
  action locked() noexcept;
  action step_back(reason) noexcept;
  action go(state, action) noexcept;
  action refuse_unlocked(reason) noexcept;
  action refuse_locked(reason) noexcept;
  action start() noexcept;
  action fail() noexcept;

  std::int64_t number_ = 0;
  state state_ = state::free;
  reason why_ = reason::none;
  request request_;
  unsigned char reopened_ = 0;
  bool joins_ = false;  // readers that hold the lock already
};

// The next number after `in_file` and `ours`; above number_max when there is none.
std::int64_t next_number(std::int64_t in_file, std::int64_t ours,
                         std::chrono::microseconds wall) noexcept;

// The number that the next one must exceed.
std::int64_t least_number(const observation&) noexcept;

}  // namespace holdfast::file
