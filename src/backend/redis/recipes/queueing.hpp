// One claim on a lock of layout `string`: what it sends, when it sends again, what it concludes.
// Pure: (state, event, now) -> effects. No socket, no thread, no clock, no allocation.
//
// Source: the single-instance lock of redis.io's "Distributed Locks with Redis" (SET NX PX, delete
// by owner), with a number for each grant, a queue, and a release that hands the lock directly to
// the first waiter: docs/safety.md. Readers and holders of permits are members of what has the
// lock: they send `lock_or_queue` from the start, one attempt or not, and release as the others do.
//
//   state       | event                       | next        | effects
//   ------------+-----------------------------+-------------+-------------------------------------
//   idle        | acquire                     | trying      | send try_lock, under a new id
//               |                             | queueing    | send lock_or_queue, if others waited
//               |                             |             | the last time
//   trying      | granted                     | held        | granted: its send + ttl - drift
//               | busy                        | queueing    | send lock_or_queue
//               | busy, one attempt           | peeking     | send peek_kind: it may be another
//               |                             |             | kind of lock
//               | bad number                  | trying      | orphan; send try_lock, a new id, from
//               |                             |             | the second time on after a pause
//               | cut (the connection is gone)| resolving   | send resolve
//   peeking     | busy, cut                   | idle        | refused
//   resolving   | granted                     | held        | granted: the resolve's send + ...
//               | busy                        | trying      | send try_lock
//   queueing    | granted                     | held        | granted
//               | busy (a member's attempt)   | idle        | refused
//               | queued, next waiter         | queued      | sleep until the holder's lease ends;
//               |                             |             | a foreign one's: 5..250 ms, and send
//               |                             |             | again
//               | queued                      | queued      | sleep until then, or for its own ttl,
//               |                             |             | longer by its place in the queue
//   queueing,   | a push with a deadline      | held        | granted, handed over
//   queued      | a push without one          | queueing    | send lock_or_queue: it has the lock
//               | look                        | same        | sleep until then, or for its own ttl
//               | cut, wake, subscribed anew  | queueing    | send lock_or_queue, with its place
//   held        | renew                       | held        | send renew
//               | done                        | held        | extended: its send + ttl - drift
//               | not owner                   | lost        | lost
//               | wanted                      | held        | wanted, once
//   trying ...  | wanted: it has overtaken    | same        | reported with the grant
//   queued      | the grant                   |             |
//               | subscribed                  | held        | send check_waiters: no message could
//               |                             |             | reach this client before
//               | done, and others wait       | held        | wanted, once
//               | check_waiters               | held        | send check_waiters: a try_lock does
//               |                             |             | not see the queue
//               | downgrade, cut, refused     | held        | it is a reader; send downgrade
//               | release                     | releasing   | send release_uncontended; release
//               |                             |             | when others wait or the server has
//               |                             |             | notes
//   lost        | release                     | idle        | ended (not held); orphan, if the
//               |                             |             | server may have notes
//   trying ...  | cancel                      | withdrawing | send withdraw: it follows what was
//   queued      |                             |             | sent before
//   releasing,  | done, not owner             | idle        | ended
//   withdrawing | again, cut                  | same        | send it again
//               | failed                      | same        | send it again, later each time
//   any of      | not now                     | same        | send it again, later each time
//   these       |                             |             |
//   any but a   | overdue                     | idle        | refused, or ended (outcome unknown);
//   waiter      |                             |             | orphan
//
//   fact               | is set by                  | is cleared by      | while it is set
//   -------------------+----------------------------+--------------------+------------------------
//   is_grouped         | acquire, of a lock group   | the next acquire   | lock_all takes the place
//                      |                            |                    | of try_lock
//   may_be_noted       | queueing, renew            | the next id        | release is sent in full;
//                      |                            |                    | lost: it is an orphan
//   replaces_timer     | wake, subscribed anew      | the next request   | lock_or_queue sets its
//                      |                            |                    | timer on the lock again
//   is_contended_early | wanted, before the grant   | the next id        | the grant is contended
//   is_handed_over     | a push with a deadline     | the next grant     | the grant is provisional
//   waiters_unknown    | granted by try_lock        | the next grant     | the cohort checks for
//                      |                            |                    | waiters before it keeps
//                      |                            |                    | the grant
//   is_peeking         | check_waiters, subscribed  | the reply, a grant | the request is repeated
//   peeks_again        | the same, while is_peeking | the reply, a grant | check_waiters is sent
//                      |                            |                    | once more
//   was_contended      | release, when others wait  | release, when none | the next acquire sends
//                      |                            | do                 | lock_or_queue at once
//   saw_bad_number     | bad number                 | the next acquire   | the op-timeout counts
//                      |                            |                    | from the first one
//
// A waiter, which asked for more than one attempt and has not been granted the lock, is never
// overdue: it waits through an outage as it would for a holder (transport/error_text.hpp).
//
// Whatever makes earlier replies meaningless starts a new epoch; replies of an earlier epoch are
// discarded.
#pragma once
#include <holdfast/options.hpp>

#include "backend/redis/recipes/protocol.hpp"
#include "claim/recipes/lease_recipe.hpp"

namespace holdfast::redis {

using base::claim_event;
using claims::timing;
using effects = claims::effects<operation>;

enum class queueing_state : unsigned char {
  idle,
  trying,
  peeking,
  resolving,
  queueing,
  queued,
  held,
  lost,
  releasing,
  withdrawing,
};

class queueing_recipe : public claims::lease_recipe<queueing_state, operation> {
 public:
  using reply = redis::reply;

  // A request of a lock_group: together with other claims, all or none; exclusive, one attempt.
  effects acquire(const seam::acquire_request&, time_point now, const timing&) noexcept;
  effects cancel(time_point now, const timing&) noexcept;
  effects renew(duration ttl, time_point now, const timing&) noexcept;
  effects downgrade(time_point now, const timing&) noexcept;
  effects check_waiters(time_point now, const timing&) noexcept;
  effects release(time_point now, const timing&) noexcept;
  // The claim is enqueued in the same step as another claim's release.
  effects succeed(const seam::acquire_request&, time_point now, const timing&) noexcept;
  effects on(const reply&, time_point now, const timing&) noexcept;
  effects on(const push&, time_point now) noexcept;  // to the claim's id
  effects on_cut(std::uint32_t epoch) noexcept;      // no reply of this epoch arrives any more
  effects on_subscribed(time_point now) noexcept;
  effects on_wake(time_point now, const timing&) noexcept;
  effects on_overdue() noexcept;

  bool may_be_pushed() const noexcept {
    return state_ == state::queueing || state_ == state::queued;
  }
  // A push may report that another client waits, or a reply what became of its downgrade.
  bool listens() const noexcept { return is_held() && (!others_wait_ || is_downgrading_); }
  lock_mode mode() const noexcept { return mode_; }
  bool one_attempt() const noexcept { return one_attempt_; }
  std::int64_t arrival() const noexcept { return arrival_; }  // in the queue; 0: it was not queued
  bool replaces_timer() const noexcept { return replaces_timer_; }
  time_point waits_since() const noexcept { return waits_since_; }  // a waiter: its acquire
  std::int64_t number() const noexcept { return number_; }          // of the last grant
  seam::grant granted() const noexcept {
    seam::grant out = lease_recipe::granted();
    out.provisional = is_handed_over_;
    out.waiters_unknown = waiters_unknown_;
    return out;
  }

 private:
  using verdict = reply::verdict;
  effects ask(state, operation, time_point now) noexcept;
  effects look_at_queue() noexcept;
  effects leave(state, operation, time_point now) noexcept;
  effects first_operation(time_point now) noexcept;
  effects on_acquire_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_busy(const reply&, time_point now) noexcept;
  effects on_kind(const reply&) noexcept;
  effects on_waiters_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_bad_number(const reply&, time_point now, const timing&) noexcept;
  effects on_queued(const reply&, time_point now) noexcept;
  effects on_release_reply(const reply&, time_point now, const timing&) noexcept;
  operation operation_of_state() const noexcept;
  effects become_held(std::int64_t number, time_point deadline, bool others, bool handed,
                      time_point now) noexcept;
  effects start_over(time_point now, bool clear) noexcept;

  time_point waits_since_{};
  std::int64_t arrival_ = 0;
  time_point look_at_ = base::never;  // a look that overtook the reply to lock_or_queue
  lock_mode mode_ = lock_mode::exclusive;
  bool is_peeking_ = false;
  bool peeks_again_ = false;
  bool saw_bad_number_ = false;
  bool is_grouped_ : 1 = false;
  bool is_contended_early_ : 1 = false;
  bool is_handed_over_ : 1 = false;
  bool waiters_unknown_ : 1 = false;
  bool may_be_noted_ : 1 = false;  // the server may have stored something beside the lock
  bool replaces_timer_ : 1 = false;
  bool was_contended_ : 1 = false;
};

}  // namespace holdfast::redis
