// The threads of one client that want the same lock: at most one of their claims waits at the
// backend, one grant is held and passed from thread to thread. (Lock cohorting: Dice, Marathe,
// Shavit, "Lock Cohorting: A General Technique for Designing NUMA Locks", PPoPP 2012.)
//
// A passive state machine: every member function is called with the local lock's mutex held, does
// no I/O, reads no clock and calls no claim. It leaves its effects in a cohort_effects, which the
// local lock empties. held_grant.hpp has the table of a grant, claim_record.hpp that of a claim.
//
//   requesting | grant     | turns   | event                    | effect
//   -----------+-----------+---------+--------------------------+---------------------------------
//   no         | none      | -       | enter                    | acquire, for the first waiter
//   yes        | none      | -       | granted                  | the first waiter gets a turn, or
//              |           |         |                          | all readers at the front
//   yes        | none      | -       | refused                  | all waiters are answered; only
//              |           |         |                          | one-attempt callers when it was
//              |           |         |                          | busy, or one attempt in an outage
//   yes        | none      | -       | the first waiter leaves, | cancel
//              |           |         | no next one can use the  |
//              |           |         | request                  |
//   no         | held      | readers | a reader enters, the     | it gets a turn, unless another
//              |           |         | queue is empty           | client waits (admission closed)
//   no         | held      | some    | leave, others inside     | none
//   no         | held      | none    | leave, the queue is      | release, or linger
//              |           |         | empty                    |
//   no         | held      | none    | leave, budget spent and  | release; the next claim acquires
//              |           |         | another client waits, or | in the same write
//              |           |         | a share and a writer     |
//   no         | held      | none    | leave, else              | the next waiter gets a turn,
//              |           |         |                          | after a renewal if the lease is
//              |           |         |                          | too short
//   no         | held      | some    | on_doubtful              | every turn is notified once, as
//              |           |         |                          | is every later one, until
//              |           |         |                          | on_extended
//   no         | held      | some    | on_revocation_requested  | every turn is notified; no other
//              |           |         |                          | one starts, as when the budget
//              |           |         |                          | is spent and another client
//              |           |         |                          | waits
//   no         | held      | some    | deadline, or on_lost     | the turns are lost, and remain
//              |           |         |                          | until their holders leave
//   no         | lost      | none    | leave                    | release, and acquire again for
//              |           |         |                          | the first waiter
//   no         | lingering | none    | enter                    | as after leave
//   no         | lingering | none    | time over, or another    | release
//              |           |         | client waits             |
//
// In a semaphore each holder has a grant of its own, and one claim may be requesting while others
// hold. A grant belongs to one claim; readers of this process may share an exclusive one.
#pragma once
#include <cstdint>
#include <memory>

#include "cohort/claim_record.hpp"
#include "cohort/cohort_effects.hpp"
#include "cohort/confirmation_list.hpp"
#include "cohort/lock_rules.hpp"
#include "cohort/turn.hpp"
#include "cohort/waiter_queue.hpp"
#include "seam/connection.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class cohort {
 public:
  cohort(detail::local_lock& home, const lock_rules& rules, seam::connection& of_lock) noexcept
      : effects_(rules), claims_(home), connection_(of_lock) {}

  const lock_rules& rules() const noexcept { return effects_.rules(); }
  seam::connection& connection() const noexcept { return connection_; }
  cohort_effects& effects() noexcept { return effects_; }

  // For callers. enter() needs the clock only when the cohort is not idle, or the wait is bounded.
  void enter(waiter&, time_point now);
  // The waiter whose turn depends on a reply of the store or a grant by push: the first one while a
  // claim is requesting. All others wait for threads of this client. Null: none.
  waiter* awaits_store() const noexcept { return requesting_ ? waiters_.first() : nullptr; }
  bool is_idle() const noexcept { return !requesting_ && !claims_.held() && waiters_.is_empty(); }
  void withdraw(waiter&, errc why, time_point now);  // does nothing when it has been answered
  // Answers the waiters with a time bound; the others keep waiting.
  void refuse_timed_waits(const failure&, time_point now);
  void leave(detail::turn&, confirmation* report, time_point now);  // ends the turn
  void extend(detail::turn&, duration ttl, confirmation&, time_point now);
  failure downgrade(detail::turn&, time_point now);
  void close();  // ends every wait, marks every lease closed, releases all claims

  // Whether leave() needs the clock; whether others_wait() must be called before it.
  bool needs_clock(const detail::turn&) const noexcept;
  bool should_poll(const detail::turn&, time_point now) const noexcept;
  void polled(claim_record&, bool others_wait, time_point now);
  // A lingering grant whose store does not report waiters: must be polled. Null: none.
  claim_record* lingering_unseen() const noexcept;

  // Events of the backend, through a claim record.
  void on_granted(claim_record&, const grant&);
  void on_refused(claim_record&, const failure&);
  void on_extended(claim_record&, time_point deadline, std::uint32_t ticket, time_point now);
  void on_doubtful(claim_record&, time_point now);
  void on_lost(claim_record&, std::error_code why);
  void on_contended(claim_record&);
  void on_revocation_requested(claim_record&);
  void on_ended(claim_record&, const failure&);

  // tick() does what is due at `now`; next_tick() returns when to call it next.
  void tick(time_point now);
  time_point next_tick() const noexcept;

  // The claim whose acquire is sent in the same write as the release of the given one; null: none.
  claim_record* successor_of(const claim_record& c) const noexcept {
    const bool is_unsent = requesting_ && (requesting_->pending_verbs & claim_record::acquire) != 0;
    return c.has_successor && is_unsent ? requesting_ : nullptr;
  }
  bool is_release_awaited(const claim_record& c) const noexcept {  // by a caller
    return confirmations_.has_release_of(c);
  }
  bool is_busy() const noexcept { return !claims_.are_idle(); }  // some claim is not idle
  // Whether on_granted needs the clock for a grant without a deadline.
  bool clock_matters() const noexcept;

 private:
  void end_wait(waiter&, failure, time_point now);
  failure unserved(errc) const;  // the answer to a wait that ends without a turn
  void answer_waiters(const failure&, bool only_one_attempt);  // from the first on
  void await(confirmation&, const claim_record& record, std::uint32_t ticket) noexcept;
  void plan_hurry(const waiter&, time_point now) noexcept;
  void retry_now(time_point now);

  bool is_free_for(const waiter&) const noexcept;
  bool joins(const waiter&, time_point now) const noexcept;
  // For the first waiter. False: none is needed. `now` {}: the clock was not read.
  bool request_next(time_point now = {});
  void stop_requesting();
  void release(claim_record&);
  void release_and_request(claim_record&);
  void check_waiters(claim_record&) noexcept;

  void grant_turns(claim_record&, time_point now, bool is_just_renewed = false);
  bool start_turn(claim_record&, time_point now, bool is_just_renewed);
  detail::turn& new_turn();
  void renew(claim_record&, duration ttl, time_point now);
  void lose(claim_record&, detail::turn::fate);
  void tick(claim_record&, time_point now);

  cohort_effects effects_;
  waiter_queue waiters_;
  confirmation_list confirmations_;
  claim_records claims_;
  seam::connection& connection_;
  claim_record* requesting_ = nullptr;  // requesting or withdrawing
  std::unique_ptr<detail::turn> spare_turn_;
  time_point earliest_until_ = never;  // of all callers: never too late, perhaps too early
  time_point hurry_at_ = never;        // shortly before the first bounded wait ends
  bool is_closed_ = false;
};

}  // namespace holdfast::cohort
