#include "claim/recipes/retrying.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::claims {

using base::mutant;
using base::planted;
using base::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration after_lease = 1ms, spread_after_lease = 4ms;
constexpr duration yield_min = 500us, yield_spread = 1500us;

// If other clients were waiting at this claim's last release, they are assumed to wait still.
constexpr duration notified_lately = std::chrono::milliseconds{100};
constexpr std::uint8_t pauses_for_peers = 8;  // after the lock was found busy

}  // namespace

retrying_recipe::step retrying_recipe::acquire(const seam::acquire_request& request, time_point now,
                                               const timing& t) noexcept {
  begin(request);
  waits_since_ = now;
  number_ = 0;
  busy_count_ = 0;
  may_be_ours_ = is_subscribed_ = polls_ = false;
  is_untried_ = !one_attempt_ && joins_queue(now);
  step out = ask(is_untried_ ? state::subscribing : state::trying, now, t);
  out.new_owner = !planted(mutant::owner_id_reused);
  const duration left_free = share(now);
  if (one_attempt_) return out;
  if (is_untried_) {
    in_use_since_ = now;
    out.wake = saturating_add(now, t.op_timeout);
    return out;
  }
  if (left_free > duration{} && !planted(mutant::peers_outrun)) {
    state_ = state::waiting;
    out.send = operation::none;
    out.wake = now + left_free;
    out.spread = left_free / 2;
    in_use_since_ = out.wake + out.spread;
    return out;
  }
  if (now >= yields_until_) return out;
  // The message that it published takes longer to wake another client than the next attempt of this
  // client takes: threads that lock without a pause would keep the others out forever.
  state_ = state::waiting;
  out.send = operation::none;
  out.wake = now + yield_min;
  out.spread = yield_spread;
  return out;
}

// How long the lock stays free before this acquire, so that the next poll of a peer finds it free.
// Peers that were seen share that time: it is longer then.
duration retrying_recipe::share(time_point now) noexcept {
  if (rules_->share_after == duration::max()) return {};
  const duration in_use = used(now);
  if (in_use < rules_->share_after) return {};
  if (rules_->channel_is_queue && peers_seen_ == 0) return {};
  const int times = peers_seen_ > 0 ? 4 : 1;
  if (peers_seen_ > 0) --peers_seen_;
  return std::min(times * in_use, rules_->share_max);
}

duration retrying_recipe::used(time_point now) noexcept {
  constexpr duration without_pause = 2ms;
  if (now - released_at_ > without_pause) in_use_since_ = now;
  return now - in_use_since_;
}

// Behind the waiters that are queued by now, so that it overtakes none of them.
bool retrying_recipe::joins_queue(time_point now) noexcept {
  if (!rules_->channel_is_queue || planted(mutant::waiters_overtaken)) return false;
  return used(now) >= rules_->queue_after;
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
  return {.sleeps = true, .send = question(), .wake = due(t)};
}

// Woken by chance in the second half, so that clients that wait together do not try together.
retrying_recipe::step retrying_recipe::wait(duration remaining, time_point now) noexcept {
  state_ = state::waiting;
  duration limit = rules_->nap_max;
  if (!is_subscribed_) {
    limit = doubled(rules_->back_off_min, busy_count_, rules_->back_off_max);
    count_up(busy_count_);
  }
  limit = std::min(limit, rules_->queue_heartbeat);
  step out{.sleeps = true};
  if (remaining < limit && !planted(mutant::no_wake_on_expiry)) {
    out.wake = now + remaining + after_lease;
    out.spread = spread_after_lease;
  } else if (!planted(mutant::poll_never_wakes)) {
    out.spread = limit / 2;
    out.wake = now + limit - out.spread;
  }
  return out;
}

retrying_recipe::step retrying_recipe::on(const reply& r, time_point now,
                                          const timing& t) noexcept {
  if (r.to == operation::subscribe) return on_subscribe_reply(r, now, t);
  if (is_late(r.epoch)) return {};
  switch (r.to) {
    case operation::try_lock:
    case operation::resolve: return on_try_reply(r, now, t);
    case operation::renew: return leave_queue(on_renew_reply(r, now, t));
    case operation::downgrade: return leave_queue(on_downgrade_reply(r, now, t));
    case operation::release:
    case operation::withdraw: return on_leave_reply(r, now, t);
    default: return {};
  }
}

// After a failover, the queue may be a copy from before the grant of the lease that was lost. The
// place in it is withdrawn.
retrying_recipe::step retrying_recipe::leave_queue(step out) const noexcept {
  const bool is_lost = out.event == claim_event::lost;
  if (is_lost && rules_->has_queue && !planted(mutant::place_of_the_lost_kept)) out.orphan = true;
  return out;
}

retrying_recipe::step retrying_recipe::on_try_reply(const reply& r, time_point now,
                                                    const timing& t) noexcept {
  if (state_ != state::trying && state_ != state::resolving) return {};
  switch (r.what) {
    case verdict::granted:
      may_be_ours_ = may_be_ours_ && !r.final && rules_->try_is_idempotent;
      return become_held(r.number, deadline_of(ttl_, r.sent, now, t), now);
    case verdict::next_step: return take_next_step();
    case verdict::busy:
      return r.to == operation::resolve ? on_not_ours(r, now, t) : on_busy(r, now, t);
    case verdict::start_over: step_ = 0; return pause(now, t);
    case verdict::not_now: return pause(now, t);
    default: {
      step out = become_idle(claim_event::refused, r.why == errc{} ? errc::refused : r.why);
      out.orphan = r.left || may_be_ours_ || rules_->has_queue;
      return out;
    }
  }
}

// The next step of a lock that takes several commands.
retrying_recipe::step retrying_recipe::take_next_step() noexcept {
  ++step_;
  return send(question());
}

retrying_recipe::step retrying_recipe::on_busy(const reply& r, time_point now,
                                               const timing& t) noexcept {
  may_be_ours_ = may_be_ours_ && !r.final;
  if (one_attempt_) {
    step out = become_idle(claim_event::refused, errc::timed_out);
    out.orphan = may_be_ours_ || rules_->withdraws_always;
    return out;
  }
  is_untried_ = false;
  if (!rules_->channel_is_queue) peers_seen_ = pauses_for_peers;
  if (message_early_) return ask(state::trying, now, t);
  if (!rules_->has_channel || is_subscribed_ || polls_) return wait(r.rest, now);
  step out = ask(state::subscribing, now, t);
  out.wake = saturating_add(now, t.op_timeout);
  return out;
}

// The owner was read, and it is not this claim. An older request of this claim would make it the
// owner after all: then it tries under another id, and the old one is withdrawn.
retrying_recipe::step retrying_recipe::on_not_ours(const reply& r, time_point now,
                                                   const timing& t) noexcept {
  const time_point since = phase_began_;
  may_be_ours_ = false;
  step out = ask(state::trying, now, t);
  out.orphan = out.new_owner = !r.final;
  if (!one_attempt_) return out;
  phase_began_ = since;  // the op-timeout is that of the whole attempt
  out.wake = due(t);
  return out;
}

retrying_recipe::step retrying_recipe::on_subscribe_reply(const reply& r, time_point now,
                                                          const timing& t) noexcept {
  if (r.what == verdict::subscribed) return on_subscribed(now, t);
  if (r.epoch != epoch_ || state_ != state::subscribing) return {};
  if (std::exchange(is_untried_, false)) return ask(state::trying, now, t);
  polls_ = true;
  return wait(duration::max(), now);
}

retrying_recipe::step retrying_recipe::on_subscribed(time_point now, const timing& t) noexcept {
  if (!is_acquiring()) return {};
  is_subscribed_ = true;
  if (rules_->keeps_messages && state_ == state::subscribing) return wait(duration::max(), now);
  return on_message(now, t);  // one may have been sent before
}

retrying_recipe::step retrying_recipe::on_unsubscribed(time_point now) noexcept {
  is_subscribed_ = false;
  return state_ == state::waiting ? wait(duration::max(), now) : step{};
}

retrying_recipe::step retrying_recipe::on_message(time_point now, const timing& t) noexcept {
  if (state_ == state::waiting || state_ == state::subscribing) return ask(state::trying, now, t);
  message_early_ = true;
  return {};
}

retrying_recipe::step retrying_recipe::on_leave_reply(const reply& r, time_point now,
                                                      const timing& t) noexcept {
  if (!is_leaving()) return {};
  if (r.what == verdict::next_step) return take_next_step();
  if (r.what != verdict::done && r.what != verdict::not_owner) return pause(now, t);
  if (r.notified_others) yields_until_ = now + notified_lately;
  if (r.peers_poll && !planted(mutant::pollers_unseen)) peers_seen_ = pauses_for_peers;
  if (state_ == state::releasing) released_at_ = now;
  const bool may_arrive = (state_ == state::withdrawing || may_be_ours_) && !r.final;
  const bool is_absent = state_ == state::releasing && r.what == verdict::not_owner;
  // Sent before, it may be gone because of that.
  const bool is_missing = is_absent && attempts_ == 0;
  // Or the release was repeated at a server with a copy of the queue from before the grant.
  const bool may_be_queued = is_absent &&
                             (is_missing || !planted(mutant::place_of_the_released_kept)) &&
                             rules_->has_queue;
  step out = become_idle(claim_event::ended, is_missing ? errc::not_held : errc{});
  out.orphan = may_arrive || may_be_queued;
  return out;
}

retrying_recipe::step retrying_recipe::on_cut(std::uint32_t epoch, time_point now,
                                              const timing&) noexcept {
  if (epoch == epoch_ && is_held()) return on_wake(now, {});
  if (epoch != epoch_ || !waits() || state_ == state::waiting) return {};
  if (state_ == state::subscribing) return wait(duration::max(), now);
  count_up(attempts_);
  step_ = 0;
  if (state_ == state::trying) state_ = state::resolving;
  may_be_ours_ = true;
  return send(question());
}

retrying_recipe::step retrying_recipe::on_wake(time_point now, const timing& t) noexcept {
  if (is_held() && is_downgrading_) return send(operation::downgrade);
  if (!waits()) return {};
  polls_ = polls_ || state_ == state::subscribing;
  if (state_ == state::waiting || state_ == state::subscribing) return ask(state::trying, now, t);
  if (now >= due(t)) return lease_recipe::give_up(errc::unavailable);
  return {.sleeps = true, .send = question(), .wake = due(t)};
}

}  // namespace holdfast::claims
