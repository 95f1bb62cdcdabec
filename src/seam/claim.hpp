// The one seam: what the core and a backend say to each other.
//
// A claim is a conversation between a cohort and a store. The core speaks by verbs, which return at
// once; the backend answers through the claim_sink, later or from inside the verb.
//
//   said by the core | answered by
//   -----------------+----------------------------------------------------------------------------
//   acquire          | granted, or refused (nothing of this claim is left at the store)
//   cancel           | ended, or granted when it was too late to withdraw (then release follows)
//   renew(ticket)    | moved(ticket), or lost, or nothing: an unknown outcome, asked again later
//   downgrade        | nothing: what was exclusive is shared once the store has heard of it
//   peek_line        | wanted when somebody waits, else nothing
//   release          | ended
//   (unasked)        | lost, wanted
//
// After refused and ended the claim is as new and may acquire again, under a new owner id.
// After lost the core still says release, once the holder has left; ended answers that too.
//
// Threads: the core calls the verbs of one claim one at a time and with no lock of its own held.
// An answer from inside a verb is the last thing that the verb does: the next verb may be called by
// another thread before this one has returned. (After release(next): the answer of next.)
// The backend calls a sink with no lock of its own held and in the order of events; calls for one
// claim never overlap, except that verbs and sink calls may run at the same time on two threads.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "base/failure.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::core {

// Asks of several claims of one backend, each with one_attempt, that are granted all or none: in
// one step at the store, once so many of them were said. Claims that must not wait for the others
// any more are cancelled. A value: who asked may be gone when the verb is said.
struct lock_group {
  std::uint32_t members = 0;  // 0: it is asked for alone
  std::uint32_t id = 0;       // of this process

  static lock_group of(std::uint32_t members) noexcept {
    static std::atomic<std::uint32_t> last = 0;
    return {members, last.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  explicit operator bool() const noexcept { return members != 0; }
  bool operator==(const lock_group&) const noexcept = default;
};

struct acquire_request {     // one acquire
  bool one_attempt = false;  // refused with timed_out when somebody else holds the lock
  duration ttl{};
  std::string_view note{};  // copied before the verb returns
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 1;  // permit: how many at once
  std::uint32_t total_permits =
      0;               // permit: of so many; refused with mismatch when others say otherwise
  lock_group group{};  // only of backends that said can_gather()
  time_point at{};     // the clock just before, where it was read
};

struct grant {
  std::int64_t number = 0;      // 1 .. 2^53-1, grows with each grant of the lock; readers that hold
                                // it together have the same
  time_point deadline = never;  // from before the request was sent; `never` unless bound to ttl
  time_point seen{};            // the clock when the answer arrived; only with a deadline
  bool others_wait = false;     // somebody waits at the store already
  bool provisional =
      false;  // provisional over for a short window: the first turn starts at once, and is
              // renewed before the window ends
  bool line_unseen = false;  // somebody may wait of whom the grant could not tell: see peek_line()
};

class claim_sink {
 public:
  virtual void on_granted(const grant&) = 0;
  virtual void on_refused(failure) = 0;  // timed_out: one attempt, and another holds the lock
  virtual void on_extended(time_point deadline, std::uint32_t ticket) = 0;
  // The store's own word. lost: another owner has it; not_held: nobody; timed_out: it ran out.
  virtual void on_lost(std::error_code) = 0;
  virtual void on_wanted() = 0;
  virtual void on_ended(failure) = 0;  // code {}: released or withdrawn; not_held: the store had
                                       // another owner; outcome_unknown: left to run out

 protected:
  ~claim_sink() = default;
};

class claim;
struct successor {  // who asks next, in the same write as a release
  claim* who = nullptr;
  acquire_request request;
};

class claim {
 public:
  virtual ~claim() = default;  // only when it is as new
  virtual void acquire(const acquire_request&) = 0;
  virtual void cancel() = 0;
  virtual void renew(duration ttl, std::uint32_t ticket) = 0;
  // While held exclusively, once: from here on it is a share, under the same number. Where a store
  // cannot do that (capabilities::downgrade) it stays exclusive there, which harms nobody.
  virtual void downgrade() {}
  // While held, of a grant with line_unseen. Waiters that came before the grant count on the first
  // of them to ask for the lock, and that one may be lost.
  virtual void peek_line() {}
  virtual void release(
      const successor* next) = 0;  // next: as release(), then next->who->acquire(next->how)
  virtual bool others_wait() { return true; }  // wanted_by::poll; by the holder, while held
  // While held: whom a guard compares. As inspect() shows it; of readers that hold it together the
  // id of all of them, which break_lock() takes too.
  virtual std::string owner() const { return {}; }
  virtual int native_handle() const noexcept { return -1; }  // while held: lease::native_handle()
};

}  // namespace holdfast::core
