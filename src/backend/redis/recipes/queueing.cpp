#include "backend/redis/recipes/queueing.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;
using base::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration nap = 30s;          // the longest: a push may get lost
constexpr duration look_after = 50ms;  // a waiter looks later than the one before it
constexpr duration foreign_pause_min = 5ms;
constexpr duration foreign_pause_max = 250ms;

}  // namespace

effects queueing_recipe::acquire(const seam::acquire_request& request, time_point now,
                                 const timing&) noexcept {
  begin(request);
  mode_ = request.mode;
  is_grouped_ = bool(request.group);
  saw_bad_number_ = false;
  waits_since_ = now;
  effects out = start_over(now, false);
  // It was not free the last time: try_lock would fail again.
  if (was_contended_ && !one_attempt_ && mode_ == lock_mode::exclusive) {
    may_be_noted_ = true;
    out = ask(state::queueing, operation::lock_or_queue, now);
  }
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

effects queueing_recipe::succeed(const seam::acquire_request& request, time_point now,
                                 const timing& t) noexcept {
  effects out = acquire(request, now, t);
  may_be_noted_ = true;
  out.send = operation::none;  // the release script enqueues it
  state_ = state::queueing;
  return out;
}

effects queueing_recipe::start_over(time_point now, bool clear) noexcept {
  number_ = arrival_ = 0;
  may_be_noted_ = false;
  is_contended_early_ = false;
  look_at_ = base::never;
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
  if (!is_acquiring()) return {};
  return leave(state::withdrawing, operation::withdraw, now);
}

effects queueing_recipe::renew(duration ttl, time_point now, const timing& t) noexcept {
  may_be_noted_ = may_be_noted_ || is_held();
  return lease_recipe::renew(ttl, now, t);
}

// Replies to what it sent as a writer do not count any more.
effects queueing_recipe::downgrade(time_point, const timing&) noexcept {
  if (!is_held() || mode_ != lock_mode::exclusive) return {};
  ++epoch_;
  mode_ = lock_mode::shared;
  others_wait_ = false;  // a client that still waits notifies this one
  begin_downgrade();
  return send(operation::downgrade);
}

effects queueing_recipe::check_waiters(time_point, const timing&) noexcept {
  return look_at_queue();
}

effects queueing_recipe::look_at_queue() noexcept {
  if (!is_held() || others_wait_) return {};
  peeks_again_ = is_peeking_;  // the next reply may be to a request that was sent too early
  if (std::exchange(is_peeking_, true) || is_downgrading_) return {};
  return send(operation_of_state());
}

effects queueing_recipe::release(time_point now, const timing&) noexcept {
  if (state_ == state::lost) {
    // The server may keep its note, or its membership, until they expire.
    effects out = become_idle(claim_event::ended, errc::not_held);
    out.orphan = may_be_noted_ || mode_ != lock_mode::exclusive;
    return out;
  }
  if (!is_held()) return {};
  const bool quick = !may_be_noted_ && !others_wait_ && mode_ == lock_mode::exclusive;
  was_contended_ = others_wait_;
  return leave(state::releasing, quick ? operation::release_uncontended : operation::release, now);
}

effects queueing_recipe::ask(state next, operation op, time_point now) noexcept {
  turn_to(next, now);
  replaces_timer_ = false;
  return send(op);
}

effects queueing_recipe::leave(state next, operation op, time_point now) noexcept {
  effects out = ask(next, op, now);
  out.sleeps = true;  // wakes up for nothing any more
  return out;
}

effects queueing_recipe::become_held(std::int64_t number, time_point deadline, bool others,
                                     bool handed, time_point now) noexcept {
  is_peeking_ = peeks_again_ = false;
  others_wait_ = others || is_contended_early_;
  is_handed_over_ = handed;
  waiters_unknown_ = false;
  return lease_recipe::become_held(number, deadline, now);
}

effects queueing_recipe::on_overdue() noexcept {
  if (state_ == state::peeking) return become_idle(claim_event::refused, errc::timed_out);
  return give_up(errc::unavailable);
}

effects queueing_recipe::on(const reply& r, time_point now, const timing& t) noexcept {
  if (is_late(r.epoch)) return {};
  switch (r.to) {
    case operation::try_lock:
    case operation::lock_all:
    case operation::lock_or_queue:
    case operation::resolve: return on_acquire_reply(r, now, t);
    case operation::peek_kind: return on_kind(r);
    case operation::downgrade: {
      const effects out = on_downgrade_reply(r, now, t);
      return is_held() && !is_downgrading_ ? send(operation_of_state()) : out;
    }
    case operation::check_waiters: return on_waiters_reply(r, now, t);
    case operation::renew: return on_renew_reply(r, now, t);
    case operation::release_uncontended:
    case operation::release:
    case operation::withdraw: return on_release_reply(r, now, t);
    case operation::none: break;
  }
  return {};
}

effects queueing_recipe::on_acquire_reply(const reply& r, time_point now,
                                          const timing& t) noexcept {
  // The request may have been sent twice: queued by the first one, granted by the second.
  const bool has_it = state_ == state::queued && r.what == verdict::granted;
  if (state_ != state::trying && state_ != state::resolving && state_ != state::queueing && !has_it)
    return {};
  switch (r.what) {
    case verdict::granted: {
      const effects out =
          become_held(r.number, deadline_of(ttl_, r.sent, now, t), r.others, false, now);
      waiters_unknown_ = r.to == operation::try_lock;
      return out;
    }
    case verdict::bad_number: return on_bad_number(r, now, t);
    case verdict::queued: return on_queued(r, now);
    case verdict::again: return send(r.to);
    case verdict::busy: return on_busy(r, now);
    case verdict::not_now: return pause(now, t);
    default: {
      effects out = become_idle(claim_event::refused, r.why == errc{} ? errc::refused : r.why);
      // An earlier request may have queued or granted this id: it was answered so, or never.
      const bool may_be_at_server = r.left || arrival_ != 0 || attempts_ > 0;
      out.orphan = may_be_at_server && !planted(mutant::refused_claim_stays_queued);
      return out;
    }
  }
}

effects queueing_recipe::on_busy(const reply& r, time_point now) noexcept {
  if (r.to == operation::resolve) return start_over(now, !r.final);
  if (r.to == operation::lock_or_queue) {
    effects out = become_idle(claim_event::refused, errc::timed_out);
    out.orphan = !r.final;
    return out;
  }
  if (one_attempt_) return ask(state::peeking, operation::peek_kind, now);
  may_be_noted_ = true;
  return ask(state::queueing, operation::lock_or_queue, now);
}

effects queueing_recipe::on_kind(const reply& r) noexcept {
  if (state_ != state::peeking) return {};
  const bool is_other_kind = r.what == verdict::failed && r.why == errc::mismatch;
  return become_idle(claim_event::refused, is_other_kind ? r.why : errc::timed_out);
}

// The id becomes an orphan, and the claim tries under another one, once the counter has been
// raised. When that does not help, with pauses, and not forever: the counter was lost and the
// clock set back.
effects queueing_recipe::on_bad_number(const reply& r, time_point now, const timing& t) noexcept {
  const time_point since = std::exchange(saw_bad_number_, true) ? phase_began_ : r.sent;
  const std::uint8_t before = attempts_;
  if (is_grouped_ || now - since >= t.op_timeout) {
    effects out = become_idle(claim_event::refused, errc::refused);
    out.orphan = true;
    return out;
  }
  effects out = start_over(now, true);
  phase_began_ = since;
  attempts_ = before;
  if (before > 0) {
    const effects later = pause(now, t);
    out.send = operation::none;
    out.sleeps = true;
    out.wake = later.wake;
    out.spread = later.spread;
  } else {
    ++attempts_;
  }
  return out;
}

// Every waiter keeps a timer on the lock, by its place in the queue. The next waiter looks when the
// holder's lease has run out. The one behind it looks a little later: a holder and the next waiter
// may be lost together, and then no other claim would check the lock. A waiter that is not next
// also looks after its own ttl, since it is not notified when the lock gets an owner with a shorter
// lease.
effects queueing_recipe::on_queued(const reply& r, time_point now) noexcept {
  state_ = state::queued;
  arrival_ = r.number;
  effects out;
  out.sleeps = true;
  if (r.ahead > 0 && !planted(mutant::only_next_waiter_looks)) {
    constexpr std::int64_t places_max = nap / look_after;
    const duration later = look_after * std::min(r.ahead, places_max);
    out.wake = now + std::min({r.rest, ttl_, nap}) + later;
    out.spread = look_after;
  } else if (r.ahead > 0) {
    out.wake = now + nap;
    out.spread = nap / 4;
  } else if (r.foreign) {
    const duration pause = claims::doubled(foreign_pause_min, attempts_, foreign_pause_max);
    claims::count_up(attempts_);
    out.wake = now + pause;
    out.spread = pause / 4;
  } else {
    out.wake = saturating_add(now, std::min(r.rest, nap) + 1ms);
    out.spread = 4ms;
  }
  if (look_at_ < out.wake) {
    out.wake = look_at_;
    out.spread = 4ms;
  }
  look_at_ = base::never;
  return out;
}

effects queueing_recipe::on_waiters_reply(const reply& r, time_point now,
                                          const timing& t) noexcept {
  if (!is_held() || !is_peeking_) return {};
  if (r.what == verdict::not_now) return pause(now, t);
  is_peeking_ = std::exchange(peeks_again_, false) && !r.others;
  return r.others ? note_others() : send(operation_of_state());
}

effects queueing_recipe::on_release_reply(const reply& r, time_point now,
                                          const timing& t) noexcept {
  if (!is_leaving()) return {};
  if (r.what == verdict::again) {
    claims::count_up(attempts_);
    return send(operation_of_state());
  }
  if (r.what == verdict::done) return become_idle(claim_event::ended, {});
  if (r.what == verdict::not_owner || r.why == errc::mismatch) {
    // An earlier request may have done it.
    const bool known = state_ == state::withdrawing || attempts_ > 0;
    return become_idle(claim_event::ended, known ? errc{} : errc::not_held);
  }
  return pause(now, t);
}

effects queueing_recipe::on(const push& p, time_point now) noexcept {
  if (p.what == push::kind::wanted) {
    is_contended_early_ = is_contended_early_ || waits();
    return is_held() ? note_others() : effects{};
  }
  if (!may_be_pushed()) return {};
  if (p.what == push::kind::grant) {
    if (p.until == base::never) return ask(state::queueing, operation::lock_or_queue, now);
    return become_held(p.number, p.until, p.others, true, now);
  }
  if (state_ == state::queueing) {
    look_at_ = std::min(look_at_, p.until);
    return {};
  }
  // The server's clock may have been set forward since it was compared with this one.
  const time_point latest = saturating_add(now, ttl_ + look_after);
  effects out;
  out.sleeps = true;
  out.wake = p.until > latest && !planted(mutant::pushed_look_believed) ? latest : p.until;
  out.spread = 4ms;
  return out;
}

effects queueing_recipe::on_cut(std::uint32_t epoch) noexcept {
  if (epoch != epoch_) return {};
  if (state_ == state::peeking) return become_idle(claim_event::refused, errc::timed_out);
  claims::count_up(attempts_);
  if (state_ == state::trying) state_ = state::resolving;
  return send(operation_of_state());
}

// The request that is repeated in this state.
operation queueing_recipe::operation_of_state() const noexcept {
  switch (state_) {
    case state::trying: return is_grouped_ ? operation::lock_all : operation::try_lock;
    case state::peeking: return operation::peek_kind;
    case state::resolving: return operation::resolve;
    case state::queueing: return operation::lock_or_queue;
    case state::releasing: return operation::release;
    case state::withdrawing: return operation::withdraw;
    case state::held:
      return is_downgrading_ ? operation::downgrade
             : is_peeking_   ? operation::check_waiters
                             : operation::none;
    default: return operation::none;
  }
}

effects queueing_recipe::on_subscribed(time_point now) noexcept {
  if (is_held() && !others_wait_) {
    // A waiter that came before this client listened could not tell it that another client waits.
    return planted(mutant::line_not_peeked) ? effects{} : look_at_queue();
  }
  if (state_ != state::queued || planted(mutant::removed_waiter_sleeps)) return {};
  effects out = send(operation::lock_or_queue);
  phase_began_ = now;  // not since the wait began: the request is a new one
  ++epoch_;
  state_ = state::queueing;
  replaces_timer_ = true;  // this claim may be the only one with a timer on the lock
  out.sleeps = true;
  return out;
}

effects queueing_recipe::on_wake(time_point now, const timing& t) noexcept {
  if (state_ == state::queued) {
    const std::uint8_t attempts = attempts_;
    effects out = ask(state::queueing, operation::lock_or_queue, now);
    attempts_ = attempts;
    replaces_timer_ = true;
    return out;
  }
  if (is_held()) return send(operation_of_state());
  return now >= due(t) ? on_overdue() : send(operation_of_state());
}

}  // namespace holdfast::redis
