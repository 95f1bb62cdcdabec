#include "backend/memory/recipe.hpp"

#include <algorithm>

#include "base/mutant.hpp"
#include "seam/client_options.hpp"

namespace holdfast::memory {

using core::mutant;
using core::planted;
using core::saturating_add;
using core::worth;
using namespace std::chrono_literals;

namespace {

constexpr duration back_off_max = 60s;

}  // namespace

effects recipe::acquire(const core::acquire_request& how, time_point now,
                        const timing& t) noexcept {
  ++epoch_;
  one_attempt_ = how.one_attempt;
  downgraded_ = false;
  ttl_ = t.runs_out ? how.ttl : forever;
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
  if (state_ != state::held) return {};
  ttl_ = ttl;
  run_out_no_earlier(ttl, now, t);
  effects out;
  out.send = operation::renew;
  return out;
}

effects recipe::downgrade(time_point now, const timing& t) noexcept {
  if (state_ != state::held || downgraded_) return {};
  downgraded_ = true;
  downgrade_unconfirmed_ = true;
  attempts_ = 0;
  return question(operation::share, now, core::never, t);
}

effects recipe::release(time_point now, const timing& t) noexcept {
  if (state_ == state::lost) return become_idle(claim_event::ended, errc::not_held);
  if (state_ != state::held) return {};
  return leave(state::releasing, now, t);
}

request recipe::to_send(operation what, time_point now) const noexcept {
  request r;
  r.what = what;
  r.one_attempt = one_attempt_;
  r.shares = downgraded_;
  r.epoch = epoch_;
  r.ttl = ttl_;
  r.sent = now;
  return r;
}

// A first acquire request, with the time of its repetition.
effects recipe::ask(time_point now, const timing& t) noexcept {
  state_ = state::trying;
  asked_since_ = now;
  attempts_ = 0;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::acquire, now, due(t), t);
}

// When an unanswered request is given up; a waiter waits through an outage.
time_point recipe::due(const timing& t) const noexcept {
  return saturating_add(asked_since_, one_attempt_ ? t.op_timeout : t.outage_timeout);
}

effects recipe::ask_again(time_point now, const timing& t) noexcept {
  state_ = state::resolving;
  run_out_no_earlier(ttl_, now, t);
  return question(operation::acquire, now, due(t), t);
}

effects recipe::leave(state next, time_point now, const timing& t) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = 0;
  downgrade_unconfirmed_ = false;
  return question(operation::leave, now, core::never, t);
}

// Repeated after an eighth of the op-timeout, then after twice as long each time.
effects recipe::question(operation what, time_point now, time_point until,
                         const timing& t) noexcept {
  if (planted(mutant::operation_without_bound)) until = core::never;
  const bool waits = what == operation::acquire && !one_attempt_;
  const duration pause = std::min(t.op_timeout / 8 * (1 << std::min<int>(attempts_, 20)),
                                  waits ? std::max<duration>(t.op_timeout, 1ms)
                                        : std::max(back_off_max, t.op_timeout));
  if (attempts_ < 255) ++attempts_;
  effects out;
  out.send = what;
  out.sleeps = true;
  out.wake = std::min(saturating_add(now, pause), until);
  out.spread = std::min(pause / 8, until - out.wake);
  return out;
}

// The store may get the request as late as an op-timeout after its send, and its clock may be slow.
void recipe::run_out_no_earlier(duration ttl, time_point now, const timing& t) noexcept {
  const time_point end = saturating_add(saturating_add(now, ttl), ttl / 100 + t.op_timeout);
  surely_over_ = std::max(surely_over_, end);
}

time_point recipe::deadline_of(const reply& r, time_point now, const timing& t) const noexcept {
  if (!t.runs_out) return core::never;
  const time_point from = planted(mutant::deadline_from_reply) ? now : r.sent;
  return saturating_add(from, worth(r.ttl, t.clock_skew));
}

effects recipe::become_idle(claim_event what, errc why) noexcept {
  state_ = state::idle;
  downgrade_unconfirmed_ = false;
  ++epoch_;
  effects out;
  out.event = what;
  out.why = why;
  return out;
}

}  // namespace holdfast::memory
