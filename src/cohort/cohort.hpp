// The threads of one client that want the same lock: at most one of their claims waits at the
// backend, one grant is held and passed from thread to thread. (Lock cohorting: Dice, Marathe,
// Shavit, "Lock Cohorting: A General Technique for Designing NUMA Locks", PPoPP 2012.)
//
// A passive state machine: every member function is called with the local lock's mutex held, does
// no I/O, reads no clock and calls nobody. Its effects are left in three lists that the local lock
// empties: claim records with pending verbs (scheduled_), calls to complete (answered_), and
// notices_.
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
//   no         | held      | readers | a reader enters, nobody  | it gets a turn, unless another
//              |           |         | is queued                | client waits (admission closed)
//   no         | held      | some    | leave, others inside     | none
//   no         | held      | none    | leave, nobody is queued  | release, or linger
//   no         | held      | none    | leave, budget spent and  | release; the next claim acquires
//              |           |         | another client waits, or | in the same write
//              |           |         | a share and a writer     |
//   no         | held      | none    | leave, else              | the next waiter gets a turn,
//              |           |         |                          | after a renewal if the lease is
//              |           |         |                          | too short
//   no         | held      | some    | on_doubtful              | every turn is notified once, as
//              |           |         |                          | is every later one, until
//              |           |         |                          | on_extended
//   no         | held      | some    | on_revocation_requested  | every turn is told; no other one
//              |           |         |                          | starts, as when the budget is
//              |           |         |                          | spent and another client waits
//   no         | held      | some    | deadline, or on_lost     | the turns are lost, and remain
//              |           |         |                          | until their holders leave
//   no         | lost      | none    | leave                    | release, and acquire again for
//              |           |         |                          | the first waiter
//   no         | lingering | none    | enter                    | as after leave
//   no         | lingering | none    | time over, or wanted     | release
//
// In a semaphore each holder has a grant of its own, and one claim may be requesting while others
// hold. A grant belongs to one claim; readers of this process may share an exclusive one.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/counters.hpp"
#include "cohort/turn.hpp"
#include "cohort/waiter.hpp"
#include "seam/backend.hpp"
#include "seam/client_options.hpp"

namespace holdfast::core {

inline constexpr std::int64_t turns_per_grant = 1024;  // a token is number * 1024 + turn
inline constexpr duration polled_every = std::chrono::milliseconds{1};  // while lingering

struct lock_rules {  // common to all cohorts of a client
  client_options options;
  capabilities can;
  backend* store = nullptr;
  environment* env = nullptr;
  counters* counts = nullptr;  // null: metrics are off
  std::uint32_t phase = 0;  // random per client, so that clients do not all renew at the same time
};

class cohort {
 public:
  cohort(detail::local_lock& home, const lock_rules& rules) noexcept
      : rules_(rules), first_record_(home) {}

  // For callers. enter() needs the clock only when the cohort is not idle, or the wait is bounded.
  void enter(waiter&, time_point now);
  // The waiter whose turn depends on a reply of the store or a grant by push: the first one while a
  // claim is requesting. All others wait for threads of this client. Null: none.
  waiter* awaits_store() const noexcept { return requesting_ ? first_ : nullptr; }
  bool is_idle() const noexcept { return !requesting_ && !held_ && !first_; }
  void withdraw(waiter&, errc why, time_point now);  // does nothing when it has been answered
  // Answers the waiters with a time bound; the others keep waiting.
  void refuse_timed_waits(const failure&, time_point now);
  void leave(detail::turn&, confirmation* report, time_point now);  // ends the turn
  void extend(detail::turn&, duration ttl, confirmation&, time_point now);
  failure downgrade(detail::turn&, time_point now);
  void watch(detail::turn&, loss_watch&);
  void end_watch(loss_watch&);  // does nothing when it has been answered
  void close();                 // ends every wait, marks every lease closed, releases all claims

  // Whether leave() needs the clock; whether others_wait() must be called before it.
  bool needs_clock(const detail::turn& t) const noexcept {
    const bool polls = t.is_share && rules_.can.wanted == wanted_by::poll;
    return first_ || polls || rules_.options.linger > duration::zero() || rules_.counts;
  }
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
  void on_wanted(claim_record&);
  void on_revocation_requested(claim_record&);
  void on_ended(claim_record&, const failure&);

  // tick() does what is due at `now`; next_tick() returns when to call it next.
  void tick(time_point now);
  time_point next_tick() const noexcept;

  claim_record* take_scheduled() noexcept;  // removes one; its pending_verbs are to be run
  completion* take_answered() noexcept;     // the whole list
  struct notices {
    std::vector<std::stop_source> sources;
    // For the log: of turns that are lost; how those in doubt may end soon.
    std::vector<detail::turn::fate> losses, doubts;
  };
  bool has_notices() const noexcept { return notices_ != nullptr; }
  std::unique_ptr<notices> take_notices() noexcept { return std::move(notices_); }  // or null
  bool is_release_awaited(const claim_record&) const noexcept;  // by a caller, who will be told
  bool busy() const noexcept { return busy_ > 0; }              // some claim is not idle
  bool has_scheduled() const noexcept { return !scheduled_.empty(); }
  // Whether on_granted needs the clock for a grant without a deadline.
  bool clock_matters() const noexcept;

 private:
  void answer(completion&) noexcept;  // without a failure
  void answer(completion&, failure);
  void answer(waiter&, failure);
  void end_wait(waiter&, failure, time_point now);
  failure in_vain(errc) const;
  bool is_held_here() const noexcept { return held_ && !held_->is_lost && held_->inside_first; }
  void plan_hurry(const waiter&, time_point now) noexcept;
  void hurry(time_point now);
  void answer(confirmation&, failure);
  void await(confirmation&, const claim_record& about, std::uint32_t ticket) noexcept;
  void answer_renewals(const claim_record&, std::uint32_t up_to_ticket, const failure&);
  bool answer_releases(const claim_record&, const failure&);  // false: no caller awaited it
  void answer_overdue(time_point now);
  void answer_watches(detail::turn&, std::error_code);
  template <class Which>
  bool answer_confirmations(const failure&, Which);
  void answer_line(const failure&, bool only_one_attempt);
  void push(waiter&) noexcept;
  void unlink(waiter&) noexcept;
  void schedule(claim_record&, claim_record::verb) noexcept;
  claim_record& idle_record();
  void idle(claim_record&) noexcept;
  void add_holder(claim_record&, detail::turn&);
  void remove_holder(claim_record&, detail::turn&) noexcept;
  void hold(claim_record&) noexcept;
  void drop_grant(claim_record&) noexcept;
  bool is_held(const claim_record&) const noexcept;

  bool is_free_for(const waiter&) const noexcept;
  bool has_room_for(const claim_record&, const waiter&) const noexcept;
  bool is_admission_closed(const claim_record&, time_point now) const noexcept;
  bool budget_is_spent(const claim_record&, time_point now) const noexcept;
  bool is_spent(const claim_record&, time_point now) const noexcept;
  claim_record* request_if_wanted() {
    return first_ && !requesting_ && !closed_ ? request_next() : nullptr;
  }
  claim_record* request_next();
  void stop_requesting();
  void release(claim_record&);
  void release_and_request(claim_record&);
  void peek_line(claim_record&) noexcept;
  bool may_linger(const claim_record&, time_point now) const noexcept;
  static time_point linger_end(const claim_record&) noexcept;
  void grant_turns(claim_record&, time_point now);
  bool start_turn(claim_record&, time_point now);
  detail::turn& new_turn();
  void extend_unasked(claim_record&, time_point deadline);
  void end_extensions(claim_record&) noexcept;
  void end_doubt(claim_record&) noexcept;
  void lose(claim_record&, detail::turn::fate);
  void lose(detail::turn&, detail::turn::fate);
  void publish(claim_record&) noexcept;
  bool is_admitting(const claim_record&) const noexcept;
  static void close_admission(claim_record&) noexcept;
  void plan_renewal(claim_record&) noexcept;
  time_point renewal_due(const claim_record&) const noexcept;
  time_point aligned(const claim_record&, time_point) const noexcept;
  duration ttl_needed(const claim_record&, time_point now) const noexcept;
  duration worth(duration ttl) const noexcept {
    return core::worth(ttl, rules_.options.clock_skew);
  }
  void renew(claim_record&, duration ttl, time_point now);
  void shorten(claim_record&, time_point end) noexcept;
  notices& notices_of_now();
  void request_notice(std::stop_source&);
  void count(counters::counter) const noexcept;
  void count_turn(const claim_record&, const waiter&, detail::turn&, time_point now) const;
  void count_hold(detail::turn&, time_point now) const;
  void count_renewal(const claim_record&, std::uint32_t ticket, time_point now) const;
  void doubt(detail::turn&);
  void tick_grant(claim_record&, time_point now);
  void tick_lingering(claim_record&, time_point now);
  void tick_turn(claim_record&, detail::turn&, time_point now);
  time_point next_tick_of(const claim_record&) const noexcept;
  duration notice(const claim_record&, const detail::turn&) const noexcept;

  const lock_rules& rules_;

  waiter* first_ = nullptr;  // the queue of waiters: first in, first served
  waiter* last_ = nullptr;
  confirmation* confirmations_ = nullptr;
  intrusive_queue<completion, &completion::next_answered> answered_;
  intrusive_queue<claim_record, &claim_record::next_scheduled> scheduled_;
  std::unique_ptr<notices> notices_;
  claim_record first_record_;  // first of the list of records

  claim_record* requesting_ = nullptr;  // requesting or withdrawing
  claim_record* held_ = nullptr;        // the grants; of a lock at most one
  std::unique_ptr<detail::turn> spare_turn_;
  time_point earliest_until_ = never;  // of all callers: never too late, perhaps too early
  time_point hurry_at_ = never;        // shortly before the first bounded wait ends
  std::uint16_t busy_ = 0;
  bool closed_ = false;
};

}  // namespace holdfast::core
