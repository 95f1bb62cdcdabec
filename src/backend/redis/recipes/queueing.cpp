#include "backend/redis/recipes/queueing.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::redis {

using core::mutant;
using core::planted;
using core::saturating_add;

effects queueing_recipe::acquire(const core::acquire_request& request, time_point now,
                                 const timing&) noexcept {
  one_attempt_ = request.one_attempt;
  ttl_ = request.ttl;
  mode_ = request.mode;
  is_grouped_ = bool(request.group);
  is_downgrading_ = false;
  saw_bad_number_ = false;
  waits_since_ = now;
  effects out = start_over(now, false);
  // It was not free the last time: try_lock would fail again.
  if (contended_ && !one_attempt_ && mode_ == lock_mode::exclusive) {
    known_ = true;
    out = ask(state::queueing, operation::lock_or_queue, now);
  }
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

effects queueing_recipe::succeed(const core::acquire_request& request, time_point now,
                                 const timing& t) noexcept {
  effects out = acquire(request, now, t);
  known_ = true;
  out.send = operation::none;  // the release speaks for it
  state_ = state::queueing;
  return out;
}

effects queueing_recipe::start_over(time_point now, bool clear) noexcept {
  number_ = 0;
  known_ = false;
  wanted_early_ = false;
  look_at_ = core::never;
  effects out = first_operation(now);
  out.new_owner = clear;
  out.orphan = clear;
  return out;
}

effects queueing_recipe::first_operation(time_point now) noexcept {
  if (mode_ != lock_mode::exclusive) return ask(state::queueing, operation::lock_or_queue, now);
  return ask(state::trying, is_grouped_ ? operation::lock_all : operation::try_lock, now);
}

effects queueing_recipe::cancel(time_point now, const timing&) noexcept {
  if (!waits() || state_ == state::releasing || state_ == state::withdrawing) return {};
  return leave(state::withdrawing, operation::withdraw, now);
}

effects queueing_recipe::renew(duration ttl, time_point, const timing&) noexcept {
  if (state_ != state::held) return {};
  ttl_ = ttl;
  known_ = true;
  return send(operation::renew);
}

// Replies to what it sent as a writer do not count any more.
effects queueing_recipe::downgrade(time_point, const timing&) noexcept {
  if (state_ != state::held || mode_ != lock_mode::exclusive) return {};
  ++epoch_;
  attempts_ = 0;
  mode_ = lock_mode::shared;
  is_downgrading_ = true;
  others_wait_ = false;  // a client that still waits notifies this one
  return send(operation::downgrade);
}

effects queueing_recipe::peek_line(time_point, const timing&) noexcept { return look_at_queue(); }

effects queueing_recipe::look_at_queue() noexcept {
  if (state_ != state::held || others_wait_) return {};
  peeks_again_ = is_peeking_;  // the next reply may be to a request that was sent too early
  if (std::exchange(is_peeking_, true) || is_downgrading_) return {};
  return send(operation_of_state());
}

effects queueing_recipe::release(time_point now, const timing&) noexcept {
  if (state_ == state::lost) return become_idle(claim_event::ended, errc::not_held);
  if (state_ != state::held) return {};
  const bool quick = !known_ && !others_wait_ && mode_ == lock_mode::exclusive;
  contended_ = others_wait_;
  is_downgrading_ = false;
  return leave(state::releasing, quick ? operation::release_uncontended : operation::release, now);
}

time_point queueing_recipe::due(const timing& t) const noexcept {
  const bool is_bounded = waits() && (!is_waiter() || planted(mutant::waiter_given_up));
  return is_bounded && state_ != state::queued ? saturating_add(asked_since_, t.op_timeout)
                                               : core::never;
}

// Early enough for a connection to be opened and for an answer.
time_point queueing_recipe::last_try(const timing& t) const noexcept {
  const time_point end = due(t);
  return end == core::never ? end : end - t.op_timeout / 8;
}

effects queueing_recipe::send(operation what) noexcept {
  effects out;
  out.send = what;
  return out;
}

// A first request of its kind.
effects queueing_recipe::ask(state next, operation what, time_point now) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = 0;
  looks_ = false;
  return send(what);
}

effects queueing_recipe::leave(state next, operation what, time_point now) noexcept {
  effects out = ask(next, what, now);
  out.sleeps = true;  // wakes up for nothing any more
  return out;
}

effects queueing_recipe::become_held(std::int64_t number, time_point deadline, bool others,
                                     bool handed, time_point now) noexcept {
  if (!planted(mutant::late_reply_accepted)) ++epoch_;  // other replies do not count any more
  state_ = state::held;
  is_peeking_ = peeks_again_ = false;
  asked_since_ = now;
  number_ = number;
  deadline_ = deadline;
  others_wait_ = others || wanted_early_;
  handed_ = handed;
  line_unseen_ = false;
  effects out;
  out.sleeps = true;
  out.event = claim_event::granted;
  return out;
}

effects queueing_recipe::become_idle(claim_event what, errc why) noexcept {
  ++epoch_;
  state_ = state::idle;
  effects out;
  out.sleeps = true;
  out.event = what;
  out.why = why;
  return out;
}

effects queueing_recipe::on_overdue() noexcept {
  if (!waits() || state_ == state::queued) return {};
  if (state_ == state::peeking) return become_idle(claim_event::refused, errc::timed_out);
  const bool ends = state_ == state::releasing || state_ == state::withdrawing;
  effects out = ends ? become_idle(claim_event::ended, errc::outcome_unknown)
                     : become_idle(claim_event::refused, errc::unavailable);
  out.orphan = true;
  return out;
}

effects queueing_recipe::give_up(errc why) noexcept {
  if (!waits()) return {};
  const bool ends = state_ == state::releasing || state_ == state::withdrawing;
  effects out = ends ? become_idle(claim_event::ended, errc::outcome_unknown)
                     : become_idle(claim_event::refused, why);
  out.orphan = true;
  return out;
}

}  // namespace holdfast::redis
