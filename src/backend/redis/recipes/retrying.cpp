#include "backend/redis/recipes/retrying.hpp"

#include <algorithm>
#include <utility>

#include "backend/redis/recipes/back_off.hpp"
#include "base/mutant.hpp"
#include "seam/client_options.hpp"

namespace holdfast::redis {

using claims::timing;
using core::mutant;
using core::planted;
using core::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration after_lease = 1ms, spread_after_lease = 4ms;
constexpr duration yield_min = 500us, yield_spread = 1500us;

}  // namespace

retrying_recipe::step retrying_recipe::acquire(const core::acquire_request& request, time_point now,
                                               const timing& t) noexcept {
  one_attempt_ = request.one_attempt;
  ttl_ = request.ttl;
  number_ = 0;
  busy_count_ = 0;
  may_be_ours_ = is_subscribed_ = polls_ = is_downgraded_ = false;
  step out = ask(state::trying, now, t);
  out.new_owner = !planted(mutant::owner_id_reused);
  if (one_attempt_ || now >= yields_until_) return out;
  // The message that it published takes longer to wake another client than the next attempt of this
  // client takes: threads that lock without a pause would keep the others out for ever.
  state_ = state::waiting;
  out.send = operation::none;
  out.wake = now + yield_min;
  out.spread = yield_spread;
  return out;
}

retrying_recipe::step retrying_recipe::cancel(time_point now, const timing& t) noexcept {
  if (!is_acquiring()) return {};
  const bool is_known = state_ == state::subscribing || state_ == state::waiting;
  const bool may_be_left = may_be_ours_ || rules_->has_queue || rules_->withdraws_always;
  if (is_known && !may_be_left) return become_idle(claim_event::ended, {});
  return ask(state::withdrawing, now, t);
}

retrying_recipe::step retrying_recipe::renew(duration ttl, time_point, const timing&) noexcept {
  step out;
  if (state_ != state::held) return out;
  ttl_ = ttl;
  out.send = operation::renew;
  return out;
}

retrying_recipe::step retrying_recipe::downgrade(time_point, const timing&) noexcept {
  step out;
  if (state_ != state::held) return out;
  is_downgrading_ = is_downgraded_ = true;
  attempts_ = 0;
  out.send = operation::downgrade;
  return out;
}

retrying_recipe::step retrying_recipe::release(time_point now, const timing& t) noexcept {
  if (state_ == state::lost) {
    const bool may_arrive = may_be_ours_;
    step out = become_idle(claim_event::ended, errc::not_held);
    out.orphan = may_arrive;
    return out;
  }
  return state_ == state::held ? ask(state::releasing, now, t) : step{};
}

retrying_recipe::step retrying_recipe::overdue() noexcept {
  step out = is_leaving() ? become_idle(claim_event::ended, errc::outcome_unknown)
                          : become_idle(claim_event::refused, errc::unavailable);
  out.orphan = true;
  return out;
}

retrying_recipe::step retrying_recipe::give_up(errc why) noexcept {
  if (!waits()) return {};
  if (is_leaving()) return overdue();
  const bool asks = state_ == state::trying || state_ == state::resolving;
  const bool may_be_left = asks || may_be_ours_ || rules_->has_queue || rules_->withdraws_always;
  step out = become_idle(claim_event::refused, why);
  out.orphan = may_be_left;
  return out;
}

core::grant retrying_recipe::granted() const noexcept {
  core::grant out;
  out.number = number_;
  out.deadline = deadline_;
  out.seen = asked_since_;
  return out;
}

// What is sent in this state, when it is sent again.
retrying_recipe::operation retrying_recipe::question() const noexcept {
  switch (state_) {
    case state::trying: return operation::try_lock;
    case state::resolving:
      return rules_->try_is_idempotent ? operation::try_lock : operation::resolve;
    case state::subscribing: return operation::subscribe;
    case state::releasing: return operation::release;
    case state::withdrawing: return operation::withdraw;
    default: return operation::none;
  }
}

time_point retrying_recipe::due(const timing& t) const noexcept {
  const bool is_bounded = waits() && (!is_waiter() || planted(mutant::waiter_given_up));
  return is_bounded ? saturating_add(asked_since_, t.op_timeout) : core::never;
}

// A first question of its kind.
retrying_recipe::step retrying_recipe::ask(state next, time_point now, const timing& t) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = step_ = 0;
  message_early_ = false;
  step out;
  out.send = question();
  out.sleeps = true;
  out.wake = due(t);
  return out;
}

// What was not executed is sent again, after longer each time, and once more just before it is
// given up: early enough for a connection to be opened and for an answer.
retrying_recipe::step retrying_recipe::pause(time_point now, const timing& t) noexcept {
  const duration d = doubled(failed_pause_min, attempts_, failed_pause_max);
  count_up(attempts_);
  step out;
  out.sleeps = true;
  out.wake = now + d;
  out.spread = d / 4;
  const time_point end = due(t);
  if (end == core::never) return out;
  const time_point last = end - t.op_timeout / 8;
  if (out.wake + out.spread < last) return out;
  out.wake = now < last ? last : std::min(out.wake, end);
  out.spread = {};
  return out;
}

// Woken by chance in the second half, so that clients that wait together do not try together.
retrying_recipe::step retrying_recipe::wait(duration rest, time_point now) noexcept {
  state_ = state::waiting;
  duration most = rules_->nap_max;
  if (!is_subscribed_) {
    most = doubled(rules_->back_off_min, busy_count_, rules_->back_off_max);
    count_up(busy_count_);
  }
  most = std::min(most, rules_->queue_heartbeat);
  step out;
  out.sleeps = true;
  if (planted(mutant::poll_never_wakes)) return out;
  if (planted(mutant::no_wake_on_expiry)) rest = duration::max();
  if (rest < most) {
    out.wake = now + rest + after_lease;
    out.spread = spread_after_lease;
  } else {
    out.spread = most / 2;
    out.wake = now + most - out.spread;
  }
  return out;
}

retrying_recipe::step retrying_recipe::become_held(const reply& r, time_point now,
                                                   const timing& t) noexcept {
  if (!planted(mutant::late_reply_accepted)) ++epoch_;  // what else was asked is of no interest
  state_ = state::held;
  is_downgrading_ = false;
  asked_since_ = now;
  number_ = r.number;
  const time_point from = planted(mutant::deadline_from_reply) ? now : r.sent;
  deadline_ = saturating_add(from, core::worth(ttl_, t.clock_skew));
  step out;
  out.sleeps = true;
  out.event = claim_event::granted;
  return out;
}

retrying_recipe::step retrying_recipe::become_idle(claim_event what, errc why) noexcept {
  ++epoch_;
  state_ = state::idle;
  may_be_ours_ = false;
  step out;
  out.sleeps = true;
  out.event = what;
  out.why = why;
  return out;
}

}  // namespace holdfast::redis
