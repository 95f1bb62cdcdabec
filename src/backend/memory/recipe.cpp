#include "backend/memory/recipe.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::memory {

using base::mutant;
using base::planted;
using base::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration back_off_max = 60s;
constexpr duration nap = 30s;  // of waiters that are not first in the queue

// Sleeps until a holder's lease has expired, and a little longer, so that waiters do not all check
// at once.
effects sleep_until_lapse(duration lapse, time_point now) noexcept {
  return {.sleeps = true,
          .wake = saturating_add(now, std::min(lapse, nap)),
          .spread = std::clamp<duration>(lapse / 20, 1ms, 250ms)};
}

}  // namespace

effects recipe::acquire(const seam::acquire_request& request, time_point now,
                        const timing& t) noexcept {
  begin(request);
  ++epoch_;
  if (!t.runs_out) ttl_ = forever;
  surely_over_ = {};
  effects out = ask(now, t);
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

effects recipe::cancel(time_point now, const timing& t) noexcept {
  if (state_ != state::trying && state_ != state::resolving && state_ != state::queued) return {};
  return leave(state::withdrawing, now, t);
}

effects recipe::renew(duration ttl, time_point now, const timing& t) noexcept {
  if (is_held()) run_out_no_earlier(ttl, now, t);
  return lease_recipe::renew(ttl, now, t);
}

effects recipe::downgrade(time_point now, const timing& t) noexcept {
  if (!is_held() || is_downgraded_) return {};
  begin_downgrade();
  return question(operation::share, now, base::never, t);
}

effects recipe::release(time_point now, const timing& t) noexcept {
  if (state_ == state::lost) return become_idle(claim_event::ended, errc::not_held);
  if (!is_held()) return {};
  return leave(state::releasing, now, t);
}

request recipe::to_send(operation op, time_point now) const noexcept {
  return {.what = op,
          .one_attempt = one_attempt_,
          .shares = is_downgraded_,
          .epoch = epoch_,
          .ttl = ttl_,
          .sent = now};
}

// A first acquire request, with the time of its repetition.
effects recipe::ask(time_point now, const timing& t) noexcept {
  state_ = state::trying;
  phase_began_ = now;
  attempts_ = 0;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::acquire, now, end_of_asking(t), t);
}

// When an unanswered request is given up; a waiter waits through an outage.
time_point recipe::end_of_asking(const timing& t) const noexcept {
  if (one_attempt_ && !planted(mutant::operation_without_bound))
    return saturating_add(phase_began_, t.op_timeout);
  return saturating_add(phase_began_, t.outage_timeout);
}

effects recipe::ask_again(time_point now, const timing& t) noexcept {
  state_ = state::resolving;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::acquire, now, end_of_asking(t), t);
}

effects recipe::leave(state next, time_point now, const timing& t) noexcept {
  turn_to(next, now);
  return question(operation::leave, now, base::never, t);
}

// Repeated after an eighth of the op-timeout, then after twice as long each time.
effects recipe::question(operation op, time_point now, time_point until, const timing& t) noexcept {
  const bool waits = op == operation::acquire && !one_attempt_;
  const duration pause = std::min(t.op_timeout / 8 * (1 << std::min<int>(attempts_, 20)),
                                  waits ? std::max<duration>(t.op_timeout, 1ms)
                                        : std::max(back_off_max, t.op_timeout));
  claims::count_up(attempts_);
  const time_point wake = std::min(saturating_add(now, pause), until);
  return {.sleeps = true, .send = op, .wake = wake, .spread = std::min(pause / 8, until - wake)};
}

// The store may get the request as late as an op-timeout after its send, and its clock may be slow.
void recipe::run_out_no_earlier(duration ttl, time_point now, const timing& t) noexcept {
  const time_point end = saturating_add(saturating_add(now, ttl), ttl / 100 + t.op_timeout);
  surely_over_ = std::max(surely_over_, end);
}

effects recipe::on(const reply& r, time_point now, const timing& t) noexcept {
  if (is_late(r.epoch)) return {};
  switch (state_) {
    case state::trying:
    case state::resolving:
    case state::queued: return on_ask_reply(r, now, t);
    case state::held: return on_renew_reply(r, now, t);
    case state::releasing:
    case state::withdrawing: return on_leave_reply(r);
    case state::idle:
    case state::lost: break;
  }
  return {};
}

effects recipe::on_ask_reply(const reply& r, time_point now, const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted:
      others_wait_ = r.others_wait;
      return become_held(r.number, deadline_of(r.ttl, r.sent, now, t), now);
    case verdict::busy: return become_idle(claim_event::refused, errc::timed_out);
    case verdict::mismatch: return become_idle(claim_event::refused, errc::mismatch);
    case verdict::queued:
      state_ = state::queued;
      if (r.first) return sleep_until_lapse(r.lapse, now);
      return {.sleeps = true, .wake = saturating_add(now, nap), .spread = nap / 10};
    case verdict::moved:
    case verdict::shared:
    case verdict::left:
    case verdict::not_owner: break;
  }
  return {};
}

effects recipe::on_renew_reply(const reply& r, time_point now, const timing& t) noexcept {
  if (r.what == verdict::not_owner) return lose(r.others_hold ? errc::lost : errc::not_held);
  if (r.what == verdict::moved) {
    const effects out = extend(deadline_of(r.ttl, r.sent, now, t));
    return r.others_wait ? note_others(out) : out;
  }
  if (r.what == verdict::shared) is_downgrading_ = false;
  return {};
}

// After a repetition, not_owner is also the reply when the first release was executed.
effects recipe::on_leave_reply(const reply& r) noexcept {
  if (r.what != verdict::left && r.what != verdict::not_owner) return {};
  const bool had_it = state_ == state::withdrawing || r.what == verdict::left || attempts_ > 1;
  return become_idle(claim_event::ended, had_it ? errc{} : errc::not_held);
}

effects recipe::on(const push& p, time_point now, const timing& t) noexcept {
  switch (p.what) {
    case push::hint::handed:
      if (asks() || state_ == state::queued) return ask(now, t);
      break;
    case push::hint::look:
      if (state_ == state::queued) return sleep_until_lapse(p.in, now);
      break;
    case push::hint::wanted:
      if (is_held()) return note_others();
      break;
    case push::hint::restarted:
      if (state_ == state::queued) return ask(now, t);
      if (waits()) return on_wake(now, t);
      break;
  }
  return {};
}

effects recipe::on_wake(time_point now, const timing& t) noexcept {
  const time_point end = asks() ? end_of_asking(t) : saturating_add(phase_began_, t.op_timeout);
  const bool timed_out = now >= end;
  switch (state_) {
    case state::trying:
    case state::resolving:
      if (timed_out || planted(mutant::unknown_acquire_dropped)) return give_up(errc::unavailable);
      return ask_again(now, t);
    case state::queued: return ask(now, t);
    case state::withdrawing:
      if (timed_out) return give_up(errc::outcome_unknown);
      return question(operation::leave, now, phase_began_ + t.op_timeout, t);
    case state::releasing:
      if (now >= surely_over_ || planted(mutant::release_not_repeated))
        return give_up(errc::outcome_unknown);
      return question(operation::leave, now, surely_over_, t);
    case state::held:
      if (!is_downgrading_) break;
      return question(operation::share, now, base::never, t);
    case state::idle:
    case state::lost: break;
  }
  return {};
}

effects recipe::give_up(errc why) noexcept {
  // A release was repeated until its lease had expired.
  const bool may_be_there = state_ != state::releasing;
  effects out = lease_recipe::give_up(why);
  out.orphan = out.orphan && may_be_there && !planted(mutant::unknown_acquire_dropped);
  return out;
}

}  // namespace holdfast::memory
