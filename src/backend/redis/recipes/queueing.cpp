#include "backend/redis/recipes/queueing.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::redis {

using core::mutant;
using core::planted;
using core::saturating_add;

effects recipe::acquire(const core::acquire_request& request, time_point now,
                        const timing&) noexcept {
  one_attempt_ = request.one_attempt;
  ttl_ = request.ttl;
  how_ = request.mode;
  gathered_ = bool(request.group);
  downgrading_ = false;
  saw_bad_number_ = false;
  waits_since_ = now;
  effects out = start_over(now, false);
  // It was not free the last time: a take would be in vain.
  if (contended_ && !one_attempt_ && how_ == lock_mode::exclusive) {
    known_ = true;
    out = ask(state::joining, operation::join, now);
  }
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

effects recipe::succeed(const core::acquire_request& request, time_point now,
                        const timing& t) noexcept {
  effects out = acquire(request, now, t);
  known_ = true;
  out.send = operation::none;  // the release speaks for it
  state_ = state::joining;
  return out;
}

effects recipe::start_over(time_point now, bool clear) noexcept {
  number_ = 0;
  known_ = false;
  wanted_early_ = false;
  look_at_ = core::never;
  effects out = first_question(now);
  out.new_owner = clear;
  out.orphan = clear;
  return out;
}

effects recipe::first_question(time_point now) noexcept {
  if (how_ != lock_mode::exclusive) return ask(state::joining, operation::join, now);
  return ask(state::asked, gathered_ ? operation::gather : operation::take, now);
}

effects recipe::cancel(time_point now, const timing&) noexcept {
  if (!waits() || state_ == state::releasing || state_ == state::leaving) return {};
  return leave(state::leaving, operation::leave, now);
}

effects recipe::renew(duration ttl, time_point, const timing&) noexcept {
  if (state_ != state::held) return {};
  ttl_ = ttl;
  known_ = true;
  return send(operation::renew);
}

// What was asked as a writer is of no interest any more.
effects recipe::downgrade(time_point, const timing&) noexcept {
  if (state_ != state::held || how_ != lock_mode::exclusive) return {};
  ++epoch_;
  attempts_ = 0;
  how_ = lock_mode::shared;
  downgrading_ = true;
  others_wait_ = false;  // who is still to wait will say so
  return send(operation::downgrade);
}

effects recipe::peek_line(time_point, const timing&) noexcept { return look_at_line(); }

effects recipe::look_at_line() noexcept {
  if (state_ != state::held || others_wait_) return {};
  peeks_again_ = peeking_;  // what is answered first may have been asked too early
  if (std::exchange(peeking_, true) || downgrading_) return {};
  return send(question());
}

effects recipe::release(time_point now, const timing&) noexcept {
  if (state_ == state::lost) return become_fresh(claim_event::ended, errc::not_held);
  if (state_ != state::held) return {};
  const bool quick = !known_ && !others_wait_ && how_ == lock_mode::exclusive;
  contended_ = others_wait_;
  downgrading_ = false;
  return leave(state::releasing, quick ? operation::let_go : operation::release, now);
}

time_point recipe::due(const timing& t) const noexcept {
  const bool is_bounded = waits() && (!is_waiter() || planted(mutant::waiter_given_up));
  return is_bounded && state_ != state::queued ? saturating_add(asked_since_, t.op_timeout)
                                               : core::never;
}

// Early enough for a connection to be opened and for an answer.
time_point recipe::last_try(const timing& t) const noexcept {
  const time_point end = due(t);
  return end == core::never ? end : end - t.op_timeout / 8;
}

effects recipe::send(operation what) noexcept {
  effects out;
  out.send = what;
  return out;
}

// A first question of its kind.
effects recipe::ask(state next, operation what, time_point now) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = 0;
  looks_ = false;
  return send(what);
}

effects recipe::leave(state next, operation what, time_point now) noexcept {
  effects out = ask(next, what, now);
  out.sleeps = true;  // wakes up for nothing any more
  return out;
}

effects recipe::become_held(std::int64_t number, time_point deadline, bool others, bool handed,
                            time_point now) noexcept {
  if (!planted(mutant::late_reply_accepted)) ++epoch_;  // what else was asked is of no interest
  state_ = state::held;
  peeking_ = peeks_again_ = false;
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

effects recipe::become_fresh(claim_event what, errc why) noexcept {
  ++epoch_;
  state_ = state::fresh;
  effects out;
  out.sleeps = true;
  out.event = what;
  out.why = why;
  return out;
}

effects recipe::on_overdue() noexcept {
  if (!waits() || state_ == state::queued) return {};
  if (state_ == state::glancing) return become_fresh(claim_event::refused, errc::timed_out);
  const bool ends = state_ == state::releasing || state_ == state::leaving;
  effects out = ends ? become_fresh(claim_event::ended, errc::outcome_unknown)
                     : become_fresh(claim_event::refused, errc::unavailable);
  out.orphan = true;
  return out;
}

effects recipe::give_up(errc why) noexcept {
  if (!waits()) return {};
  const bool ends = state_ == state::releasing || state_ == state::leaving;
  effects out = ends ? become_fresh(claim_event::ended, errc::outcome_unknown)
                     : become_fresh(claim_event::refused, why);
  out.orphan = true;
  return out;
}

}  // namespace holdfast::redis
