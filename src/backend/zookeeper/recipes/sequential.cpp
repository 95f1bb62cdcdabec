#include "backend/zookeeper/recipes/sequential.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using claims::timing;
using core::mutant;
using core::planted;
using core::saturating_add;
using namespace std::chrono_literals;

sequential_recipe::step sequential_recipe::acquire(const core::acquire_request& request,
                                                   time_point now, const timing& t) noexcept {
  one_attempt_ = request.one_attempt;
  is_downgraded_ = false;
  return begin(now, t);
}

sequential_recipe::step sequential_recipe::cancel(time_point now, const timing& t) noexcept {
  if (!is_acquiring()) return {};
  return leave(state::withdrawing, errc{}, now, t);
}

sequential_recipe::step sequential_recipe::downgrade(time_point, const timing&) noexcept {
  step out;
  if (!is_held()) return out;
  is_downgrading_ = is_downgraded_ = true;
  out.send = operation::downgrade;
  return out;
}

sequential_recipe::step sequential_recipe::peek_line(time_point, const timing&) noexcept {
  step out;
  if (is_held()) out.send = operation::peek_line;
  return out;
}

sequential_recipe::step sequential_recipe::release(time_point now, const timing& t) noexcept {
  if (state_ == state::lost) return become_idle(claim_event::ended, errc::not_held);
  return is_held() ? leave(state::releasing, errc{}, now, t) : step{};
}

core::grant sequential_recipe::granted() const noexcept {
  core::grant out;
  out.number = number_;
  out.deadline = deadline_;
  out.seen = asked_since_;
  out.line_unseen = !others_wait_;
  out.lease_term = term_;
  return out;
}

sequential_recipe::operation sequential_recipe::question() const noexcept {
  switch (state_) {
    case state::creating: return operation::create;
    case state::resolving: return operation::find;
    case state::listing: return operation::list;
    case state::watching: return operation::watch;
    case state::releasing:
    case state::withdrawing: return operation::remove;
    default: return operation::none;
  }
}

time_point sequential_recipe::due(const timing& t) const noexcept {
  const bool is_bounded = waits() && (!is_waiter() || planted(mutant::waiter_given_up));
  return is_bounded ? saturating_add(asked_since_, t.op_timeout) : core::never;
}

// A first question of its kind.
sequential_recipe::step sequential_recipe::ask(state next, time_point now,
                                               const timing& t) noexcept {
  ++epoch_;
  state_ = next;
  asked_since_ = now;
  attempts_ = 0;
  event_early_ = false;
  step out;
  out.send = question();
  out.sleeps = true;
  out.wake = due(t);
  return out;
}

// Under a new owner: an older create of this claim is another's from here on.
sequential_recipe::step sequential_recipe::begin(time_point now, const timing& t) noexcept {
  number_ = 0;
  refusal_ = {};
  watches_own_ = is_next_ = others_wait_ = is_doubtful_ = is_downgrading_ = is_revoked_ = false;
  step out = ask(state::creating, now, t);
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

sequential_recipe::step sequential_recipe::leave(state next, errc refusal, time_point now,
                                                 const timing& t) noexcept {
  refusal_ = refusal;
  return ask(next, now, t);
}

sequential_recipe::step sequential_recipe::become_idle(claim_event what, errc why) noexcept {
  ++epoch_;
  state_ = state::idle;
  is_doubtful_ = false;
  step out;
  out.sleeps = true;
  out.event = what;
  out.why = why;
  return out;
}

sequential_recipe::step sequential_recipe::become_lost(errc why) noexcept {
  ++epoch_;
  state_ = state::lost;
  is_doubtful_ = false;
  step out;
  out.sleeps = true;
  out.event = claim_event::lost;
  out.why = why;
  return out;
}

sequential_recipe::step sequential_recipe::end_leaving(errc why) noexcept {
  if (refusal_ != errc{}) return become_idle(claim_event::refused, refusal_);
  return become_idle(claim_event::ended, why);
}

sequential_recipe::step sequential_recipe::overdue() noexcept {
  step out = is_leaving() ? end_leaving(errc::outcome_unknown)
                          : become_idle(claim_event::refused, errc::unavailable);
  out.orphan = !planted(mutant::unknown_acquire_dropped);
  return out;
}

sequential_recipe::step sequential_recipe::give_up(errc why) noexcept {
  if (!waits()) return {};
  if (is_leaving()) return overdue();
  step out = become_idle(claim_event::refused, why);
  out.orphan = !planted(mutant::unknown_acquire_dropped);
  return out;
}

sequential_recipe::step sequential_recipe::on_wake(time_point now, const timing& t) noexcept {
  step out;
  if (is_held()) {
    if (!watches_own_) out.send = operation::watch_own;
    return out;
  }
  if (due(t) <= now) return overdue();
  if (!is_leaving()) return out;
  out.send = operation::remove;  // it failed, or was cut
  out.sleeps = true;
  out.wake = due(t);
  return out;
}

}  // namespace holdfast::zookeeper
