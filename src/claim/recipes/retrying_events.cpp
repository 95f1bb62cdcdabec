// The events of a claim, and its conclusions.
#include "claim/recipes/retrying.hpp"

namespace holdfast::claims {

using core::saturating_add;

namespace {

// Clients that wait go on waiting: what this claim's last release met, its next one meets too.
constexpr duration notified_lately = std::chrono::milliseconds{100};
constexpr std::uint8_t pauses_for_peers = 8;  // after the lock was found busy

}  // namespace

retrying_recipe::step retrying_recipe::on(const reply& r, time_point now,
                                          const timing& t) noexcept {
  if (r.to == operation::subscribe) return on_subscribe_reply(r, now, t);
  if (is_late(r.epoch)) return {};
  switch (r.to) {
    case operation::try_lock:
    case operation::resolve: return on_try_reply(r, now, t);
    case operation::renew: return on_renew_reply(r, now, t);
    case operation::downgrade: return on_downgrade_reply(r, now, t);
    case operation::release:
    case operation::withdraw: return on_leave_reply(r, now, t);
    default: return {};
  }
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
  peers_seen_ = pauses_for_peers;
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
  const time_point since = asked_since_;
  may_be_ours_ = false;
  step out = ask(state::trying, now, t);
  out.orphan = out.new_owner = !r.final;
  if (!one_attempt_) return out;
  asked_since_ = since;  // the op-timeout is that of the whole attempt
  out.wake = due(t);
  return out;
}

retrying_recipe::step retrying_recipe::on_subscribe_reply(const reply& r, time_point now,
                                                          const timing& t) noexcept {
  if (r.what == verdict::subscribed) return on_subscribed(now, t);
  if (r.epoch != epoch_ || state_ != state::subscribing) return {};
  polls_ = true;
  return wait(duration::max(), now);
}

retrying_recipe::step retrying_recipe::on_subscribed(time_point now, const timing& t) noexcept {
  if (!is_acquiring()) return {};
  is_subscribed_ = true;
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
  if (state_ == state::releasing) released_at_ = now;
  // Sent before, it may be gone because of that.
  const bool was_ours = state_ == state::releasing && attempts_ == 0;
  const bool may_arrive = (state_ == state::withdrawing || may_be_ours_) && !r.final;
  const bool is_missing = was_ours && r.what == verdict::not_owner;
  step out = become_idle(claim_event::ended, is_missing ? errc::not_held : errc{});
  out.orphan = may_arrive;
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
  step out = send(question());
  out.sleeps = true;
  out.wake = due(t);
  return out;
}

}  // namespace holdfast::claims
