// The lock algorithm on a file, without a file: (state, event) -> action, one at a time.
//
// Source: flock(2), Linux. The kernel keeps one exclusive lock for a file and takes it away when
// the last copy of the descriptor is closed, which the end of a process does. Two things it does
// not do: say which file the folder's name means by the time the lock is there (somebody may have
// deleted or replaced the file, then two hold "the lock"), and number the holders. Hence, under the
// lock, a look at the folder's file and its content before the new number is written.
//
//   state      | event                   | action                     | next state
//   -----------+-------------------------+----------------------------+------------
//   free       | acquire, no descriptor  | open                       | opening
//   free       | acquire                 | try_lock                   | trying
//   free       | acquire, behind others  | wait                       | waiting
//   opening    | opened                  | try_lock, or wait          | trying, or waiting
//   trying     | busy, one attempt       | try_unprobed               | insisting
//   trying     | busy                    | wait                       | waiting
//   trying     | locked                  | look                       | looking
//   insisting  | locked                  | look                       | looking
//   insisting  | busy                    | refuse: busy               | free
//   waiting    | locked                  | look                       | looking
//   waiting    | interrupted             | end                        | free
//   looking    | another file's name now | reopen (lets go of this)   | opening
//   looking    | ... for the 100th time  | unlock                     | refusing: unsteady
//   looking    | content is no record    | unlock                     | refusing: garbage
//   looking    | of another lock         | unlock                     | refusing: another
//   looking    | number at its end       | unlock                     | refusing: exhausted
//   looking    | empty, or a record      | write: the next number     | writing
//   writing    | written                 | grant                      | held
//   writing    | failed                  | unlock                     | refusing: failed
//   held       | release                 | unlock                     | releasing
//   releasing  | unlocked                | end                        | free
//   refusing   | unlocked                | refuse                     | free
//   any other  | failed                  | unlock where locked,       | refusing, or free
//              |                         | else refuse: failed        |
//
// Readers and holders of permits hold the kernel's lock together, as a shared one, which keeps out
// those who want the lock alone, and each of them has seats in the file (seats.hpp), which tell who
// is there and how many permits are taken. Who comes in does so under the file's guard: whoever
// finds no seat taken is the first and writes a new number; readers who come to others have theirs,
// each holder of permits takes a new one. What differs:
//
//   state      | event                   | action                     | next state
//   -----------+-------------------------+----------------------------+------------
//   trying     | busy, one attempt, or   | try_unprobed               | insisting
//              | permits                 |                            |
//   trying     | busy                    | wait                       | waiting
//   insisting  | busy                    | refuse: busy, or wait      | free, or waiting
//   insisting, | another: held as        | refuse: another kind       | free
//   waiting    | another kind            |                            |
//   trying,    | locked                  | guard                      | guarding
//   insisting, |                         |                            |
//   waiting    |                         |                            |
//   guarding   | guarded                 | look                       | looking
//   guarding   | busy, one attempt       | unlock                     | refusing: failed
//   guarding   | busy                    | unlock                     | stepping_back
//   guarding   | interrupted             | unlock                     | releasing
//   looking    | held as another kind    | unlock                     | refusing: another kind
//   looking    | others come first       | unlock                     | stepping_back, or refusing:
//              |                         |                            | busy (one attempt)
//   looking    | empty, or a record      | sit                        | sitting
//   sitting    | full                    | unlock                     | stepping_back, or refusing:
//              |                         |                            | busy (one attempt)
//   sitting    | seated, among readers   | mark                       | marking
//   sitting    | seated                  | write                      | writing
//   writing    | written                 | mark                       | marking
//   marking    | written                 | grant                      | held
//   stepping_  | unlocked                | wait                       | waiting
//   back       |                         |                            |
//
// Killed between two steps a holder leaves, at worst, a number that nobody was granted. One that is
// stopped while it has the guard keeps the others from coming in: an attempt of theirs fails after
// a tenth of a second, a wait goes on. When the file is deleted while it is held, those that come
// later hold another one, as with any lock file; then two groups, with two numbers, or more permits
// than there are, are held at a time. A shared lock is never turned into an exclusive one: the
// kernel lets go of it in between.
//
// Who waits: a writer is announced in NAME.waiters, and readers that come step back for it until a
// writer has had the lock, so no stream of readers keeps writers out, nor the reverse; else there
// is no order. Of those that wait for permits one is first in line and looks, when somebody lets go
// or ends, whether it may have all of its own now; the others wait to be that one, and those that
// come step back. One that is stopped while others wait behind it is passed once nobody holds
// anything for a second.
//
// The number: greater than that of the file and than any this claim was granted, and never below
// the clock in microseconds, because the file may be gone (a reboot empties /run/lock).
#pragma once
#include <chrono>
#include <cstdint>

#include "backend/file/record.hpp"

namespace holdfast::file {

enum class event : unsigned char {  // beside acquire() and looked()
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
  open,          // the folder's file -> opened, failed
  reopen,        // close what is open, which lets go of its lock, then as open
  try_lock,      // -> locked, busy, another, failed
  try_unprobed,  // the same, while nobody who only inspects holds it -> locked, busy, failed
  wait,          // until it is ours, or may be -> locked, another, interrupted, failed
  guard,         // -> guarded, busy, interrupted, failed
  look,          // -> looked, failed
  claim_bytes,   // -> seated, full, failed
  write,         // number() -> written, failed
  mark,          // who sits there; then lets go of the guard -> written, failed
  unlock,        // -> unlocked (it cannot fail: then close)
  grant,
  refuse,
  end,  // the answers
};

enum class content : unsigned char { empty, record, garbage, another };

struct observation {       // what was seen under the lock
  bool same_file = false;  // the folder's name still means the file that is locked
  content what = content::garbage;
  std::int64_t number = 0;           // of the record; of an empty file: the directory's floor
  std::chrono::microseconds wall{};  // since 1970
  // For those who hold it together:
  kind as{};                  // of the record
  bool taken = false;         // others have seats
  bool others_first = false;  // somebody waits who is to come in before us
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
    insisting,
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
  struct wish {
    bool one_attempt = false;
    bool behind = false;  // others wait: not before them
    bool is_open = false;
    kind as{};
  };

  action acquire(const wish&) noexcept;
  action looked(const observation&) noexcept;
  action on(event) noexcept;

  state now() const noexcept { return state_; }
  std::int64_t number() const noexcept { return number_; }  // to write, then granted
  reason why() const noexcept { return why_; }              // for refuse

 private:
  bool alone() const noexcept { return wish_.as.how == lock_mode::exclusive; }
  action looked_together(const observation&) noexcept;
  action on_together(event) noexcept;
  action step_back(reason) noexcept;
  action go(state, action) noexcept;
  action refuse_unlocked(reason) noexcept;
  action refuse_locked(reason) noexcept;
  action start() noexcept;
  action fail() noexcept;

  std::int64_t number_ = 0;
  state state_ = state::free;
  reason why_ = reason::none;
  wish wish_;
  unsigned char reopened_ = 0;
  bool joins_ = false;  // readers that are there
};

// The next number after `in_file` and `ours`; above number_max when there is none.
std::int64_t next_number(std::int64_t in_file, std::int64_t ours,
                         std::chrono::microseconds wall) noexcept;

// What the next number must be above.
std::int64_t least_number(const observation&) noexcept;

}  // namespace holdfast::file
