// One claim on a lock of the store: what it asks, when it asks again, and what it may conclude.
// Pure: (state, event, now) -> actions. No thread, no clock, no allocation.
//
//   state     | event                      | next      | actions
//   ----------+----------------------------+-----------+------------------------------------------
//   fresh     | acquire                    | asked     | send ask under a new owner id
//   asked,    | granted                    | held      | tell granted: its send + ttl - drift
//   unsure,   | queued, first in line      | queued    | wake when a holder's lease has run out
//   queued    | queued                     | queued    | wake after a nap
//             | busy (one attempt)         | fresh     | tell refused
//             | mismatch                   | fresh     | tell refused
//             | handed, restarted          | asked     | send ask: it counts once confirmed
//             | cancel                     | leaving   | send leave
//   asked,    | wake                       | unsure    | send ask again: the owner id resolves it
//   unsure    | wake, one attempt after    | fresh     | tell refused; the ledger clears up
//             | op-timeout, a waiter after |           |
//             | outage-timeout             |           |
//   queued    | look                       | queued    | wake when the window has run out
//             | wake                       | asked     | send ask
//   held      | renew                      | held      | send renew
//             | moved                      | held      | tell moved: its send + ttl - drift
//             | not owner                  | lost      | tell lost
//             | wanted                     | held      | tell wanted, once
//             | downgrade, once            | held      | send share; renewals say it too
//             | wake, share not answered   | held      | send share again
//             | shared                     | held      | sleep no more
//   held      | release                    | releasing | send leave
//   lost      | release                    | fresh     | tell ended (not held)
//   releasing | left, not owner            | fresh     | tell ended
//             | wake                       | releasing | send leave again
//             | wake, when surely run out  | fresh     | tell ended (outcome unknown)
//   leaving   | left, not owner            | fresh     | tell ended; a hand-over is passed on
//             | wake                       | leaving   | send leave again
//             | wake, after op-timeout     | fresh     | tell ended (outcome unknown); likewise
//
// What was sent and not answered is sent again, after longer each time; renewals are not: the core
// says them again.
//
// Readers and those who ask for permits go through the same states: what a request is for stands in
// it (particulars), and the store does the rest.
//
// Every change of what the claim is about (acquire, cancel, release) starts a new epoch; replies to
// requests of an earlier one are discarded.
#pragma once
#include <holdfast/error.hpp>

#include "backend/memory/protocol.hpp"
#include "base/event_queue.hpp"

namespace holdfast::memory {

struct timing {  // the client's, the same for all its claims
  duration op_timeout{};
  duration clock_skew{};
  duration outage_timeout = duration::max();  // of a waiter; max(): none
  bool runs_out = true;                       // its leases
};

using core::claim_event;
using core::event_queue;
using core::event_source;

struct effects {
  bool send = false;    // what to_send(ask_for) says
  bool sleeps = false;  // until `wake` and a random part of `spread`; replaces an earlier sleep
  bool new_id = false;  // from here on the claim has another owner id
  bool clear = false;   // the owner id may be at the store: for the ledger
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
  // Ends at once whatever waits for an answer: refused or ended, for the reason given.
  effects give_up(errc) noexcept;

  // What to send, when an action says so, in the name of the claim's owner id.
  request to_send(operation, time_point now) const noexcept;

  state now_in() const noexcept { return state_; }
  bool waits() const noexcept {
    return state_ != state::fresh && state_ != state::held && state_ != state::lost;
  }
  // Beside what it waits for: that the store knows of the downgrade.
  bool repeats() const noexcept { return downgrade_unheard_; }
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
  time_point asked_since_{};  // the first send of what is not answered yet
  time_point surely_over_{};  // nothing that was sent can keep the lock after this
  std::uint32_t epoch_ = 0;
  std::uint8_t attempts_ = 0;  // of what is not answered yet
  state state_ = state::fresh;
  bool one_attempt_ : 1 = false;
  bool others_wait_ : 1 = false;
  bool downgraded_ : 1 = false;
  bool downgrade_unheard_ : 1 = false;
};

}  // namespace holdfast::memory
