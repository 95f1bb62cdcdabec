// One claim at a lock of the store: what it sends, when it repeats it, and what a reply proves.
// Pure: (state, event, now) -> effects. No thread, no clock, no allocation.
//
//   state     | event                      | next      | effects
//   ----------+----------------------------+-----------+------------------------------------------
//   fresh     | acquire                    | asked     | send acquire under a new owner id
//   asked,    | granted                    | held      | post granted; deadline: send + ttl - drift
//   unsure,   | queued, first in the queue | queued    | wake when a holder's lease has expired
//   queued    | queued                     | queued    | wake after a nap
//             | busy (one attempt)         | fresh     | post refused
//             | mismatch                   | fresh     | post refused
//             | handed                     | asked     | send acquire: only its reply grants
//             | cancel                     | leaving   | send leave
//   asked,    | wake, restarted            | unsure    | send acquire again, same owner id
//   unsure    | the same, one attempt      | fresh     | post refused; withdraw the orphan
//             | after op-timeout, a waiter |           |
//             | after outage-timeout       |           |
//   queued    | look                       | queued    | wake when the lease has expired
//             | wake, restarted            | asked     | send acquire
//   held      | renew                      | held      | send renew
//             | moved                      | held      | post extended; deadline as above
//             | not_owner                  | lost      | post lost
//             | wanted, or others_wait     | held      | post wanted, once
//             | downgrade, once            | held      | send share; renewals repeat it
//             | wake, share not answered   | held      | send share again
//             | shared                     | held      | no repetition any more
//             | release                    | releasing | send leave
//   lost      | release                    | fresh     | post ended (not_held)
//   releasing | left, not_owner            | fresh     | post ended
//             | wake, restarted            | releasing | send leave again
//             | the same, when expired     | fresh     | post ended (outcome_unknown)
//   leaving   | left, not_owner            | fresh     | post ended; a hand-over is passed on
//             | wake, restarted            | leaving   | send leave again
//             | the same after op-timeout  | fresh     | post ended (outcome_unknown); withdraw the
//             |                            |           | orphan
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
#include <holdfast/error.hpp>

#include "backend/memory/protocol.hpp"
#include "base/event_queue.hpp"

namespace holdfast::memory {

struct timing {  // of the client, the same for all its claims
  duration op_timeout{};
  duration clock_skew{};
  duration outage_timeout = duration::max();  // of a waiter; max(): none
  bool runs_out = true;                       // its leases expire
};

using core::claim_event;
using core::event_queue;
using core::event_source;

struct effects {
  bool send = false;    // send to_send(ask_for)
  bool sleeps = false;  // until `wake` plus a random part of `spread`; replaces an earlier wake-up
  bool new_id = false;  // from here on the claim has another owner id
  bool clear = false;   // the owner id may be at the store: withdraw it
  claim_event what = claim_event::none;
  errc why{};  // of refused, lost and ended; 0: released or withdrawn
  operation ask_for{};
  time_point wake = core::never;
  duration spread{};
};

class recipe {
 public:
  enum class state : unsigned char {
    fresh,
    asked,
    unsure,
    queued,
    held,
    lost,
    releasing,
    leaving,
  };

  effects acquire(bool one_attempt, duration ttl, time_point now, const timing&) noexcept;
  effects cancel(time_point now, const timing&) noexcept;
  effects renew(duration ttl, time_point now, const timing&) noexcept;
  effects downgrade(time_point now, const timing&) noexcept;
  effects release(time_point now, const timing&) noexcept;
  effects on(const reply&, time_point now, const timing&) noexcept;
  effects on(const push&, time_point now, const timing&) noexcept;  // to the claim's owner id
  effects on_wake(time_point now, const timing&) noexcept;
  // Ends a wait for a reply at once: refused or ended, with the reason given.
  effects give_up(errc) noexcept;

  // The request to send, when an effect says so, under the claim's owner id.
  request to_send(operation, time_point now) const noexcept;

  state now_in() const noexcept { return state_; }
  bool waits() const noexcept {
    return state_ != state::fresh && state_ != state::held && state_ != state::lost;
  }
  // A request is repeated beside the awaited one: the store has not confirmed the downgrade.
  bool repeats() const noexcept { return downgrade_unconfirmed_; }
  bool downgraded() const noexcept { return downgraded_; }
  time_point surely_over() const noexcept { return surely_over_; }
  // Of the last grant or renewal.
  std::int64_t number() const noexcept { return number_; }
  time_point deadline() const noexcept { return deadline_; }
  bool others_wait() const noexcept { return others_wait_; }

 private:
  using verdict = reply::verdict;
  effects ask(time_point now, const timing&) noexcept;
  effects ask_again(time_point now, const timing&) noexcept;
  effects leave(state, time_point now, const timing&) noexcept;
  time_point due(const timing&) const noexcept;
  effects question(operation, time_point now, time_point until, const timing&) noexcept;
  effects on_ask_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_renew_reply(const reply&, time_point now, const timing&) noexcept;
  effects on_leave_reply(const reply&) noexcept;
  effects become_fresh(claim_event, errc) noexcept;
  effects notice_waiters(effects) noexcept;
  void run_out_no_earlier(duration ttl, time_point now, const timing&) noexcept;
  time_point deadline_of(const reply&, time_point now, const timing&) const noexcept;

  duration ttl_{};
  std::int64_t number_ = 0;
  time_point deadline_ = core::never;
  time_point asked_since_{};  // first send of the unanswered request
  time_point surely_over_{};  // nothing that was sent can keep the lock after this
  std::uint32_t epoch_ = 0;
  std::uint8_t attempts_ = 0;  // of the unanswered request
  state state_ = state::fresh;
  bool one_attempt_ : 1 = false;
  bool others_wait_ : 1 = false;
  bool downgraded_ : 1 = false;
  bool downgrade_unconfirmed_ : 1 = false;
};

}  // namespace holdfast::memory
