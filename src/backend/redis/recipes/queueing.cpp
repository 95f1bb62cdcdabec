#include "backend/redis/recipes/queueing.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::redis {

using core::mutant;
using core::planted;

effects queueing_recipe::acquire(const core::acquire_request& request, time_point now,
                                 const timing&) noexcept {
  begin(request);
  mode_ = request.mode;
  is_grouped_ = bool(request.group);
  saw_bad_number_ = false;
  waits_since_ = now;
  effects out = start_over(now, false);
  // It was not free the last time: try_lock would fail again.
  if (contended_ && !one_attempt_ && mode_ == lock_mode::exclusive) {
    known_ = true;
    out = ask(state::queueing, operation::lock_or_queue, now);
  }
  out.new_owner = !planted(mutant::owner_id_reused);
  return out;
}

effects queueing_recipe::succeed(const core::acquire_request& request, time_point now,
                                 const timing& t) noexcept {
  effects out = acquire(request, now, t);
  known_ = true;
  out.send = operation::none;  // the release script enqueues it
  state_ = state::queueing;
  return out;
}

effects queueing_recipe::start_over(time_point now, bool clear) noexcept {
  number_ = 0;
  known_ = false;
  wanted_early_ = false;
  look_at_ = core::never;
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
  known_ = known_ || is_held();
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
    out.orphan = known_ || mode_ != lock_mode::exclusive;
    return out;
  }
  if (!is_held()) return {};
  const bool quick = !known_ && !others_wait_ && mode_ == lock_mode::exclusive;
  contended_ = others_wait_;
  return leave(state::releasing, quick ? operation::release_uncontended : operation::release, now);
}

effects queueing_recipe::ask(state next, operation what, time_point now) noexcept {
  turn_to(next, now);
  looks_ = false;
  return send(what);
}

effects queueing_recipe::leave(state next, operation what, time_point now) noexcept {
  effects out = ask(next, what, now);
  out.sleeps = true;  // wakes up for nothing any more
  return out;
}

effects queueing_recipe::become_held(std::int64_t number, time_point deadline, bool others,
                                     bool handed, time_point now) noexcept {
  is_peeking_ = peeks_again_ = false;
  others_wait_ = others || wanted_early_;
  handed_ = handed;
  waiters_unknown_ = false;
  return lease_recipe::become_held(number, deadline, now);
}

effects queueing_recipe::on_overdue() noexcept {
  if (state_ == state::queued) return {};
  if (state_ == state::peeking) return become_idle(claim_event::refused, errc::timed_out);
  return give_up(errc::unavailable);
}

}  // namespace holdfast::redis
