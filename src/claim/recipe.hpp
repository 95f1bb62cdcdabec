// A recipe: what one claim sends to its store, when it sends it again, and what an answer proves.
//
// Pure: (state, event, now) -> effects. No socket, thread, clock, allocation or random number.
// Every change of what a claim wants starts a new epoch, and on() discards replies of an earlier
// one. A deadline counts from reply.sent.
#pragma once
#include <holdfast/error.hpp>

#include <concepts>
#include <cstdint>

#include "base/environment.hpp"
#include "base/event_queue.hpp"
#include "seam/claim.hpp"

namespace holdfast::claims {

using base::claim_event;
using base::duration;
using base::event_queue;
using base::time_point;

struct timing {  // of a client, the same for all its claims
  duration op_timeout{};
  duration clock_skew{};
  duration outage_timeout = duration::max();  // of a waiter; max(): none
  bool runs_out = true;                       // its leases expire
};

// The effects of one step, in the order in which the shell carries them out.
template <class Operation>
struct effects {
  bool orphan = false;     // the owner id used so far may be at the store: withdraw it
  bool new_owner = false;  // from here on the claim has another owner id
  bool sleeps = false;     // until `wake` plus a random part of `spread`; replaces an earlier sleep
  claim_event event = claim_event::none;  // or several, as a mask
  Operation send{};                       // Operation{}: nothing
  errc why{};                             // of refused, lost and ended; 0: released or withdrawn
  time_point wake = base::never;
  duration spread{};
};

template <class R>
concept recipe = std::copyable<R> &&
    requires(R r, const R& known, const seam::acquire_request& request,
             const typename R::reply& answer, duration ttl, time_point now, const timing& t) {
  { r.acquire(request, now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.cancel(now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.renew(ttl, now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.downgrade(now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.release(now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.on(answer, now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { r.on_wake(now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
  // Ends a wait for an answer at once: refused for this reason, or ended with outcome_unknown.
  // An owner id that may be stored becomes an orphan.
  { r.give_up(errc{}) }
  noexcept->std::same_as<effects<typename R::operation>>;
  { known.epoch() }
  noexcept->std::same_as<std::uint32_t>;
  { known.waits() }
  noexcept->std::same_as<bool>;  // for an answer or a push
  { known.is_idle() }
  noexcept->std::same_as<bool>;  // it neither has nor wants the lock
  // Without others_wait, which another thread may change before the core hears of the grant.
  { known.granted() }
  noexcept->std::same_as<seam::grant>;
  { known.others_wait() }
  noexcept->std::same_as<bool>;
  { answer.ticket } -> std::convertible_to<std::uint32_t>;  // of a renewal; 0: unasked
};

// Optional: another claim's release asks for this one too, in the same step. succeed() sends
// nothing.
template <class R>
concept with_succession = recipe<R> &&
    requires(R r, const seam::acquire_request& request, time_point now, const timing& t) {
  { r.succeed(request, now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
};

// Optional: what keeps a grant alive, for example a session, can be unconfirmed for a time.
template <class R>
concept with_doubt = recipe<R> && requires(const R& known) {
  { known.is_doubtful() }
  noexcept->std::same_as<bool>;
};

// Optional: the holder asks whether another client waits.
template <class R>
concept with_waiter_check = recipe<R> && requires(R r, time_point now, const timing& t) {
  { r.check_waiters(now, t) }
  noexcept->std::same_as<effects<typename R::operation>>;
};

}  // namespace holdfast::claims
