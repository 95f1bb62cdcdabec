// The interface between the core and a backend.
//
// A claim is one cohort's side of one lock at a store. The core calls the verbs, which return at
// once; the backend answers through the claim_sink, later or from inside the verb.
//
//   verb             | answer
//   -----------------+----------------------------------------------------------------------------
//   acquire          | on_granted, or on_refused (nothing of this claim is left at the store)
//   cancel           | on_ended, or on_granted if the grant came first (then the core releases)
//   renew(ticket)    | on_extended(ticket), or on_lost, or none: outcome unknown, the core repeats
//                    | it. Only called where capabilities::core_renews()
//   downgrade        | none: the grant becomes shared when the store has executed it
//   check_waiters    | on_contended when another client waits, else none
//   release          | on_ended
//   (no verb)        | on_lost, on_contended; where the backend keeps the lifetime (a session, a
//                    | connection) also on_extended(ticket 0) and on_doubtful; where its locks can
//                    | be asked for, on_revocation_requested
//
// After on_refused and on_ended the claim is in its initial state and may acquire again, under a
// new owner id. After on_lost the core still calls release once the holder has left; on_ended
// answers it.
//
// Threads: the core calls the verbs of one claim one at a time and with none of its own locks held.
// An answer from inside a verb is the last thing the verb does: another thread may call the next
// verb before this one has returned. (After release(next): the answer for `next`.) The backend
// calls a sink with none of its own locks held and in the order of events. Sink calls of one claim
// never overlap each other; a verb and a sink call may run at the same time.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "base/environment.hpp"
#include "base/failure.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::seam {
using namespace base;

// Acquire requests of several claims of one backend, each with one_attempt, that are granted all or
// none: in one step at the store, once `members` of them have been issued. A claim that must not
// wait for the others any longer is cancelled. A value type: the requester may be gone by the time
// the verb is called.
struct lock_group {
  std::uint32_t members = 0;  // 0: no group
  std::uint32_t id = 0;       // unique in this process

  static lock_group of(std::uint32_t members) noexcept {
    static std::atomic<std::uint32_t> last = 0;
    return {members, last.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  explicit operator bool() const noexcept { return members != 0; }
  bool operator==(const lock_group&) const noexcept = default;
};

struct acquire_request {     // the arguments of one acquire
  bool one_attempt = false;  // on_refused(timed_out) when another client holds the lock
  duration ttl{};
  std::string_view note{};  // copied before the verb returns
  lock_mode mode = lock_mode::exclusive;
  std::uint32_t permits = 1;  // permit mode: permits wanted
  std::uint32_t total_permits =
      0;  // permit mode: size of the semaphore; refused with mismatch when holders use another
  lock_group group{};  // only for backends whose can_lock_all() is true
  time_point at{};     // the clock just before the call, where it was read
};

struct grant {
  std::int64_t number = 0;      // 1 .. 2^53-1, grows with each grant of the lock; readers that
                                // hold it together share one
  time_point deadline = never;  // counted from before the send; finite exactly where
                                // capabilities::has_deadlines()
  time_point received_at{};     // the clock when the answer arrived; set only with a deadline
  bool others_wait = false;     // another client waits at the store already
  bool provisional = false;  // granted for a short window only: the first turn starts at once and
                             // is renewed before the window ends
  bool waiters_unknown = false;  // the reply cannot show every waiter: see check_waiters()
  duration lease_term{};  // what one confirmation is worth: the timeout of the session or the
                          // connection; {}: the ttl of the request
};

class claim_sink {
 public:
  virtual void on_granted(const grant&) = 0;
  // timed_out: one attempt was made, and another claim holds the lock
  virtual void on_refused(failure) = 0;
  // Ticket 0: unasked. The deadline of the session or the connection is another one now; it may be
  // earlier than before.
  virtual void on_extended(time_point deadline, std::uint32_t ticket) = 0;
  // The store is out of reach. The grant is held until its deadline all the same; on_extended ends
  // the doubt. Each holder is notified once.
  virtual void on_doubtful() = 0;
  // Reported by the store. lost: another owner has the lock; not_held: nobody; timed_out: it
  // expired.
  virtual void on_lost(std::error_code) = 0;
  virtual void on_contended() = 0;
  // Another client requests the release. Ignoring it has no consequence here.
  virtual void on_revocation_requested() {}
  virtual void on_ended(failure) = 0;  // code {}: released or withdrawn; not_held: the store had
                                       // another owner; outcome_unknown: it expires at the store

 protected:
  ~claim_sink() = default;
};

class claim;
struct successor {  // the claim that acquires in the same write as a release
  claim* who = nullptr;
  acquire_request request;
};

// Made by lock_store::open(). claims::store_claim is the claim of every store that has a recipe.
class claim {
 public:
  virtual ~claim() = default;  // only in the initial state
  virtual void acquire(const acquire_request&) = 0;
  virtual void cancel() = 0;
  virtual void renew(duration ttl, std::uint32_t ticket) = 0;  // ticket: from 1 on
  // While held exclusively, once: the grant becomes shared, under the same number. Where the store
  // cannot do that (capabilities::downgrade) it stays exclusive at the store, which is safe.
  virtual void downgrade() {}
  // While held, for a grant with waiters_unknown. Waiters that queued before the grant rely on the
  // first of them to ask for the lock, and that one may be lost.
  virtual void check_waiters() {}
  virtual void release(
      const successor* next) = 0;  // with next: release(), then next->who->acquire(next->request)
  virtual bool others_wait() {
    return true;
  }  // contention_signal::poll; called by the holder, while held
  // While held: the owner that a guard compares, as inspect() shows it. Readers that hold the lock
  // together share one id, which break_lock() accepts too.
  virtual std::string owner() const { return {}; }
  virtual int native_handle() const noexcept { return -1; }  // while held: lease::native_handle()
};

}  // namespace holdfast::seam
