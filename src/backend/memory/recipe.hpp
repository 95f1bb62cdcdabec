// One claim at a lock of the store: what it sends, when it repeats it, and what a reply proves.
// Pure: (state, event, now) -> effects. No thread, no clock, no allocation.
//
//   state       | event                      | next        | effects
//   ------------+----------------------------+-------------+--------------------------------------
//   idle        | acquire                    | trying      | send acquire under a new owner id
//   trying,     | granted                    | held        | post granted; deadline: send + ttl -
//   resolving,  |                            |             | drift
//   queued      | queued, first in the queue | queued      | wake when a holder's lease has expired
//               | queued                     | queued      | wake after a nap
//               | busy (one attempt)         | idle        | post refused
//               | mismatch                   | idle        | post refused
//               | handed                     | trying      | send acquire: only its reply grants
//               | cancel                     | withdrawing | send leave
//   trying,     | wake, restarted            | resolving   | send acquire again, same owner id
//   resolving   | the same, one attempt      | idle        | post refused; withdraw the orphan
//               | after op-timeout, a waiter |             |
//               | after outage-timeout       |             |
//   queued      | look                       | queued      | wake when the lease has expired
//               | wake, restarted            | trying      | send acquire
//   held        | renew                      | held        | send renew
//               | moved                      | held        | post extended; deadline as above
//               | not_owner                  | lost        | post lost
//               | wanted, or others_wait     | held        | post wanted, once
//               | downgrade, once            | held        | send share; renewals repeat it
//               | wake, share not answered   | held        | send share again
//               | shared                     | held        | no repetition any more
//               | release                    | releasing   | send leave
//   lost        | release                    | idle        | post ended (not_held)
//   releasing   | left, not_owner            | idle        | post ended
//               | wake, restarted            | releasing   | send leave again
//               | the same, when expired     | idle        | post ended (outcome_unknown)
//   withdrawing | left, not_owner            | idle        | post ended; a hand-over is passed on
//               | wake, restarted            | withdrawing | send leave again
//               | the same after op-timeout  | idle        | post ended (outcome_unknown); withdraw
//               |                            |             | the orphan
//
// Unanswered requests are repeated, each time after a longer pause; renewals are not: the core
// repeats them.
//
// Readers and waiters for permits go through the same states: request_details has what a request is
// for, and the store does the rest.
//
// Each acquire, cancel and release starts a new epoch; replies to requests of an earlier epoch are
// discarded.
#pragma once
#include "backend/memory/protocol.hpp"
#include "claim/recipes/lease_recipe.hpp"

namespace holdfast::memory {

using base::claim_event;
using base::event_queue;
using base::event_source;
using claims::timing;
using effects = claims::effects<operation>;

enum class recipe_state : unsigned char {
  idle,
  trying,
  resolving,
  queued,
  held,
  lost,
  releasing,
  withdrawing,
};

class recipe : public claims::lease_recipe<recipe_state, operation> {
 public:
  using reply = memory::reply;

  effects acquire(const seam::acquire_request&, time_point now, const timing&) noexcept;
  effects cancel(time_point now, const timing&) noexcept;
  effects renew(duration ttl, time_point now, const timing&) noexcept;
  effects downgrade(time_point now, const timing&) noexcept;
  effects release(time_point now, const timing&) noexcept;
  effects on(const reply&, time_point now, const timing&) noexcept;
  effects on(const push&, time_point now, const timing&) noexcept;  // to the claim's owner id
  effects on_wake(time_point now, const timing&) noexcept;
  effects give_up(errc) noexcept;

  // The request to send, when an effect says so, under the claim's owner id.
  request to_send(operation, time_point now) const noexcept;

  bool asks() const noexcept { return state_ == state::trying || state_ == state::resolving; }
  // A request is repeated beside the awaited one: the store has not confirmed the downgrade.
  bool repeats() const noexcept { return is_downgrading_; }
  time_point surely_over() const noexcept { return surely_over_; }

 private:
  using verdict = reply::verdict;
  effects ask(time_point now, const timing&) noexcept;
  effects ask_again(time_point now, const timing&) noexcept;
  effects leave(state, time_point now, const timing&) noexcept;
  time_point end_of_asking(const timing&) const noexcept;
  effects question(operation, time_point now, time_point until, const timing&) noexcept;
  effects on_ask_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_renew_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_leave_reply(const reply&) noexcept;
  void run_out_no_earlier(duration ttl, time_point now, const timing&) noexcept;

  time_point surely_over_{};  // nothing that was sent can keep the lock after this
};

}  // namespace holdfast::memory
