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
// The number: greater than that of the file and than any this claim was granted, and never below
// the clock in microseconds, because the file may be gone (a reboot empties /run/lock).
#pragma once
#include <chrono>
#include <cstdint>

namespace holdfast::file {

enum class event : unsigned char {  // beside acquire() and looked()
  opened,
  locked,
  busy,
  interrupted,
  written,
  release,
  unlocked,
  failed,
};

enum class action : unsigned char {
  open,          // the folder's file -> opened, failed
  reopen,        // close what is open, which lets go of its lock, then as open
  try_lock,      // -> locked, busy, failed
  try_unprobed,  // the same, while nobody who only inspects holds it -> locked, busy, failed
  wait,          // until it is ours -> locked, interrupted, failed
  look,          // -> looked, failed
  write,         // number() -> written, failed
  unlock,        // -> unlocked (it cannot fail: then close)
  grant,
  refuse,
  end,  // the answers
};

enum class content : unsigned char { empty, record, garbage, another };

struct sight {             // what was seen under the lock
  bool same_file = false;  // the folder's name still means the file that is locked
  content what = content::garbage;
  std::int64_t number = 0;           // of the record
  std::chrono::microseconds wall{};  // since 1970
};

enum class reason : unsigned char { none, busy, failed, unsteady, garbage, another, exhausted };

class recipe {
 public:
  enum class state : unsigned char {
    free,
    opening,
    trying,
    insisting,
    waiting,
    looking,
    writing,
    held,
    releasing,
    refusing,
  };
  struct wish {
    bool one_attempt = false;
    bool behind = false;  // others wait: not before them
    bool is_open = false;
  };

  action acquire(const wish&) noexcept;
  action looked(const sight&) noexcept;
  action on(event) noexcept;

  state now() const noexcept { return state_; }
  std::int64_t number() const noexcept { return number_; }  // to write, then granted
  reason why() const noexcept { return why_; }              // for refuse

 private:
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
};

// The next number after `in_file` and `ours`; above number_max when there is none.
std::int64_t next_number(std::int64_t in_file, std::int64_t ours,
                         std::chrono::microseconds wall) noexcept;

}  // namespace holdfast::file
