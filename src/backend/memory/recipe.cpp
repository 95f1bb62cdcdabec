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

}  // namespace

effects recipe::acquire(const seam::acquire_request& how, time_point now,
                        const timing& t) noexcept {
  begin(how);
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

request recipe::to_send(operation what, time_point now) const noexcept {
  request r;
  r.what = what;
  r.one_attempt = one_attempt_;
  r.shares = is_downgraded_;
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
  return question(operation::acquire, now, end_of_asking(t), t);
}

// When an unanswered request is given up; a waiter waits through an outage.
time_point recipe::end_of_asking(const timing& t) const noexcept {
  if (one_attempt_ && !planted(mutant::operation_without_bound))
    return saturating_add(asked_since_, t.op_timeout);
  return saturating_add(asked_since_, t.outage_timeout);
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
effects recipe::question(operation what, time_point now, time_point until,
                         const timing& t) noexcept {
  const bool waits = what == operation::acquire && !one_attempt_;
  const duration pause = std::min(t.op_timeout / 8 * (1 << std::min<int>(attempts_, 20)),
                                  waits ? std::max<duration>(t.op_timeout, 1ms)
                                        : std::max(back_off_max, t.op_timeout));
  claims::count_up(attempts_);
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

}  // namespace holdfast::memory
