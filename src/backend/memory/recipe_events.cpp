// The changes of a claim by replies, hints and wake-ups.
#include <algorithm>

#include "backend/memory/recipe.hpp"
#include "base/mutant.hpp"

namespace holdfast::memory {

using base::mutant;
using base::planted;
using base::saturating_add;
using namespace std::chrono_literals;

namespace {

constexpr duration nap = 30s;  // of waiters that are not first in the queue

// Sleeps until a holder's lease has expired, and a little longer, so that waiters do not all check
// at once.
effects sleep_until_lapse(duration lapse, time_point now) noexcept {
  effects out;
  out.sleeps = true;
  out.wake = saturating_add(now, std::min(lapse, nap));
  out.spread = std::clamp<duration>(lapse / 20, 1ms, 250ms);
  return out;
}

}  // namespace

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
  effects out;
  switch (r.what) {
    case verdict::granted:
      others_wait_ = r.others_wait;
      return become_held(r.number, deadline_of(r.ttl, r.sent, now, t), now);
    case verdict::busy: return become_idle(claim_event::refused, errc::timed_out);
    case verdict::mismatch: return become_idle(claim_event::refused, errc::mismatch);
    case verdict::queued:
      state_ = state::queued;
      if (r.first) return sleep_until_lapse(r.lapse, now);
      out.sleeps = true;
      out.wake = saturating_add(now, nap);
      out.spread = nap / 10;
      return out;
    case verdict::moved:
    case verdict::shared:
    case verdict::left:
    case verdict::not_owner: break;
  }
  return out;
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
  const time_point end = asks() ? end_of_asking(t) : saturating_add(asked_since_, t.op_timeout);
  const bool timed_out = now >= end;
  switch (state_) {
    case state::trying:
    case state::resolving:
      if (timed_out || planted(mutant::unknown_acquire_dropped)) return give_up(errc::unavailable);
      return ask_again(now, t);
    case state::queued: return ask(now, t);
    case state::withdrawing:
      if (timed_out) return give_up(errc::outcome_unknown);
      return question(operation::leave, now, asked_since_ + t.op_timeout, t);
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
