#include "backend/zookeeper/recipes/permits.hpp"
#include "backend/zookeeper/recipes/own_watch.hpp"

namespace holdfast::zookeeper {

permit_recipe::step permit_recipe::acquire(const seam::acquire_request& request, time_point now,
                                           const timing& t) noexcept {
  begin_wait(request, now);
  // Where others waited at the end of the last grant they most likely still do.
  const bool joins = others_wait_ && !one_attempt_;
  return joins ? start(state::joining, operation::join, t)
               : start(state::taking, operation::take, t);
}

permit_recipe::step permit_recipe::peek() const noexcept {
  return is_held() && !others_wait_ ? step{.send = operation::check_waiters} : step{};
}

permit_recipe::step permit_recipe::start(state next, operation op, const timing& t) noexcept {
  state_ = next;
  watches_own_ = false;
  return begin(op, t);
}

permit_recipe::step permit_recipe::turn_to(state next, operation op, const timing& t) noexcept {
  state_ = next;
  leases_changed_ = false;
  return ask(op, t);
}

permit_recipe::step permit_recipe::give_back(bool joins_next, const timing& t) noexcept {
  joins_next_ = joins_next;
  return turn_to(state::returning, operation::remove, t);
}

permit_recipe::step permit_recipe::on(const reply& r, time_point now, const timing& t) noexcept {
  if (is_late(r)) return {};
  switch (phase_) {
    case phase::acquiring: return on_acquire_reply(r, now, t);
    case phase::held:
      if (r.to == operation::check_waiters) return r.others_wait ? note_others() : step{};
      if (r.to != operation::watch_own) return {};
      watches_own_ = r.what == verdict::watched;
      return r.what == verdict::gone ? become_lost(errc::not_held) : note_request(r);
    case phase::leaving: return on_removed(r, now, t);
    case phase::idle:
    case phase::lost: break;
  }
  return {};
}

permit_recipe::step permit_recipe::on_acquire_reply(const reply& r, time_point now,
                                                    const timing& t) noexcept {
  if (state_ == state::returning) return on_return_reply(r, now, t);
  if (r.what == verdict::failed) {
    if (r.why == errc::mismatch || r.why == errc::exhausted) return leave(r.why, now, t);
    return r.is_there ? give_up(r.why) : become_idle(claim_event::refused, r.why);
  }
  if (r.what == verdict::no_parent) return {.send = r.to};
  switch (state_) {
    case state::taking: return on_take_reply(r, now, t);
    case state::joining: return on_line_reply(r, t);
    case state::leasing: return on_lease_reply(r, now, t);
    default: return {};
  }
}

permit_recipe::step permit_recipe::on_take_reply(const reply& r, time_point now,
                                                 const timing& t) noexcept {
  if (r.what == verdict::granted) return hold(r, now);
  const bool is_over = one_attempt_ && r.what == verdict::full;
  return is_over ? leave(errc::timed_out, now, t) : give_back(r.what == verdict::full, t);
}

permit_recipe::step permit_recipe::on_return_reply(const reply& r, time_point now,
                                                   const timing& t) noexcept {
  if (r.what == verdict::failed)
    return r.why == errc::refused ? give_up(r.why) : remove_later(now, t);
  return joins_next_ ? start(state::joining, operation::join, t)
                     : start(state::taking, operation::take, t);
}

permit_recipe::step permit_recipe::on_line_reply(const reply& r, const timing& t) noexcept {
  switch (r.what) {
    case verdict::first: return turn_to(state::leasing, operation::lease, t);
    case verdict::behind: state_ = state::in_queue; return {};
    default: return start(state::joining, operation::join, t);
  }
}

permit_recipe::step permit_recipe::on_lease_reply(const reply& r, time_point now,
                                                  const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted: {
      step out = hold(r, now);
      out.send = operation::leave_queue;
      return out;
    }
    case verdict::full:
      if (leases_changed_) return turn_to(state::leasing, operation::count, t);
      state_ = state::at_head;
      return {};
    case verdict::none: return turn_to(state::leasing, operation::lease, t);
    default: return give_back(true, t);
  }
}

permit_recipe::step permit_recipe::hold(const reply& r, time_point now) noexcept {
  step out = become_held(r, now);
  out.wake = now + own_watch_after;
  out.spread = own_watch_spread;
  return out;
}

permit_recipe::step permit_recipe::on_cut(operation op, std::uint32_t epoch, time_point now,
                                          const timing& t) noexcept {
  if (epoch != epoch_) return {};
  if (is_leaving()) return remove_again();
  if (is_held())
    return op == operation::watch_own ? step{.sleeps = true, .wake = now + own_watch_after}
                                      : peek();
  if (!is_acquiring()) return {};
  switch (state_) {
    case state::taking: return give_back(false, t);
    case state::returning: return remove_again();
    case state::joining: return ask(operation::find, t);
    case state::leasing: return turn_to(state::leasing, operation::recount, t);
    case state::in_queue:
    case state::at_head: break;
  }
  return {};
}

permit_recipe::step permit_recipe::on_blocker(const timing& t) noexcept {
  const bool waits_for_it = is_acquiring() && state_ == state::in_queue;
  return waits_for_it ? turn_to(state::joining, operation::look, t) : step{};
}

permit_recipe::step permit_recipe::on_leases(const timing& t) noexcept {
  const bool waits_for_it = is_acquiring() && state_ == state::at_head;
  leases_changed_ = true;
  return waits_for_it ? turn_to(state::leasing, operation::count, t) : step{};
}

permit_recipe::step permit_recipe::on_queue() noexcept { return peek(); }

permit_recipe::step permit_recipe::on_own_lease(bool has_ended) noexcept {
  if (!is_held()) return {};
  if (has_ended) return become_lost(errc::not_held);
  watches_own_ = false;
  return {.send = operation::watch_own};
}

permit_recipe::step permit_recipe::on_session_lost(time_point, const timing& t) noexcept {
  return is_acquiring() ? start(state::taking, operation::take, t) : end_with_session();
}

permit_recipe::step permit_recipe::on_wake(time_point now, const timing& t) noexcept {
  if (is_held()) return watches_own_ ? step{} : step{.send = operation::watch_own};
  const bool returns = is_acquiring() && state_ == state::returning;
  return on_time(now, t, is_leaving() || returns);
}

}  // namespace holdfast::zookeeper
