#include "claim/recipes/retrying.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::claims {

using core::mutant;
using core::planted;
using namespace std::chrono_literals;

namespace {

constexpr duration after_lease = 1ms, spread_after_lease = 4ms;
constexpr duration yield_min = 500us, yield_spread = 1500us;

}  // namespace

retrying_recipe::step retrying_recipe::acquire(const core::acquire_request& request, time_point now,
                                               const timing& t) noexcept {
  begin(request);
  waits_since_ = now;
  number_ = 0;
  busy_count_ = 0;
  may_be_ours_ = is_subscribed_ = polls_ = false;
  step out = ask(state::trying, now, t);
  out.new_owner = !planted(mutant::owner_id_reused);
  const duration left_free = share(now);
  if (one_attempt_) return out;
  if (left_free > duration{}) {
    state_ = state::waiting;
    out.send = operation::none;
    out.wake = now + left_free;
    out.spread = left_free / 2;
    in_use_since_ = out.wake + out.spread;
    return out;
  }
  if (now >= yields_until_) return out;
  // The message that it published takes longer to wake another client than the next attempt of this
  // client takes: threads that lock without a pause would keep the others out for ever.
  state_ = state::waiting;
  out.send = operation::none;
  out.wake = now + yield_min;
  out.spread = yield_spread;
  return out;
}

// How long the lock stays free before this acquire, so that the next poll of a peer finds it free.
// Peers that were seen share that time: it is longer then.
duration retrying_recipe::share(time_point now) noexcept {
  constexpr duration without_pause = 2ms;
  if (rules_->share_after == duration::max()) return {};
  if (now - released_at_ > without_pause) in_use_since_ = now;
  const duration used = now - in_use_since_;
  if (used < rules_->share_after) return {};
  const int times = peers_seen_ > 0 ? 4 : 1;
  if (peers_seen_ > 0) --peers_seen_;
  return std::min(times * used, rules_->share_max);
}

retrying_recipe::step retrying_recipe::cancel(time_point now, const timing& t) noexcept {
  if (!is_acquiring()) return {};
  const bool is_known = state_ == state::subscribing || state_ == state::waiting;
  const bool may_be_left = may_be_ours_ || rules_->has_queue || rules_->withdraws_always;
  if (is_known && !may_be_left) return become_idle(claim_event::ended, {});
  return ask(state::withdrawing, now, t);
}

retrying_recipe::step retrying_recipe::downgrade(time_point, const timing&) noexcept {
  if (!is_held()) return {};
  begin_downgrade();
  return send(operation::downgrade);
}

retrying_recipe::step retrying_recipe::release(time_point now, const timing& t) noexcept {
  if (state_ == state::lost) {
    step out = become_idle(claim_event::ended, errc::not_held);
    out.orphan = may_be_ours_;
    return out;
  }
  return is_held() ? ask(state::releasing, now, t) : step{};
}

retrying_recipe::step retrying_recipe::give_up(errc why) noexcept {
  const bool has_nothing = state_ == state::subscribing || state_ == state::waiting;
  const bool may_be_left = may_be_ours_ || rules_->has_queue || rules_->withdraws_always;
  step out = lease_recipe::give_up(why);
  out.orphan = out.orphan && (!has_nothing || may_be_left);
  return out;
}

// The request that is repeated in this state.
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

// A first question of its kind.
retrying_recipe::step retrying_recipe::ask(state next, time_point now, const timing& t) noexcept {
  turn_to(next, now);
  step_ = 0;
  message_early_ = false;
  step out;
  out.send = question();
  out.sleeps = true;
  out.wake = due(t);
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
  if (rest < most && !planted(mutant::no_wake_on_expiry)) {
    out.wake = now + rest + after_lease;
    out.spread = spread_after_lease;
  } else if (!planted(mutant::poll_never_wakes)) {
    out.spread = most / 2;
    out.wake = now + most - out.spread;
  }
  return out;
}

}  // namespace holdfast::claims
