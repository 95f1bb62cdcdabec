#include "backend/zookeeper/recipes/sequential.hpp"

#include "backend/zookeeper/recipes/own_watch.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::mutant;
using base::planted;

using state = sequential_recipe::state;

namespace {

sequential_operation question_in(state s) noexcept {
  switch (s) {
    case state::creating: return sequential_operation::create;
    case state::resolving: return sequential_operation::find;
    case state::listing: return sequential_operation::list;
    case state::watching: return sequential_operation::watch;
    default: return sequential_operation::none;
  }
}

}  // namespace

state sequential_recipe::now_in() const noexcept {
  switch (phase_) {
    case phase::idle: return state::idle;
    case phase::acquiring: return asks_in_;
    case phase::held: return state::held;
    case phase::lost: return state::lost;
    case phase::leaving: break;
  }
  return was_held_ ? state::releasing : state::withdrawing;
}

sequential_recipe::step sequential_recipe::acquire(const seam::acquire_request& request,
                                                   time_point now, const timing& t) noexcept {
  begin_wait(request, now);
  is_downgraded_ = false;
  return begin(now, t);
}

sequential_recipe::step sequential_recipe::downgrade(time_point, const timing&) noexcept {
  if (!is_held()) return {};
  is_downgrading_ = is_downgraded_ = true;
  return {.send = operation::downgrade};
}

sequential_recipe::step sequential_recipe::check_waiters(time_point, const timing&) noexcept {
  return is_held() ? step{.send = operation::check_waiters} : step{};
}

// A first question of its kind.
sequential_recipe::step sequential_recipe::ask(state next, time_point now,
                                               const timing& t) noexcept {
  since_ = now;
  return ask_again(next, t);
}

// The time that the question before it had still counts.
sequential_recipe::step sequential_recipe::ask_again(state next, const timing& t) noexcept {
  asks_in_ = next;
  return session_recipe::ask(question_in(next), t);
}

// Under a new owner: an older create of this claim is another's from here on.
sequential_recipe::step sequential_recipe::begin(time_point now, const timing& t) noexcept {
  watches_own_ = is_unbroken_ = is_downgrading_ = false;
  asks_in_ = state::creating;
  since_ = now;
  return session_recipe::begin(met_others_ ? operation::join : operation::create, t);
}

sequential_recipe::step sequential_recipe::on_wake(time_point now, const timing& t) noexcept {
  if (!is_held()) return on_time(now, t, is_leaving());
  // In a downgrade the node changes its name; the answer has the new one watched.
  const bool has_a_name = !is_downgrading_ || planted(mutant::old_name_watched);
  return !watches_own_ && has_a_name ? step{.send = operation::watch_own} : step{};
}

sequential_recipe::step sequential_recipe::on(const reply& r, time_point now,
                                              const timing& t) noexcept {
  if (is_late(r)) return {};
  if (r.number != 0) number_ = r.number;
  switch (phase_) {
    case phase::acquiring: return on_acquire_reply(r, now, t);
    case phase::held: return on_reply_while_held(r);
    case phase::leaving: return on_removed(r, now, t);
    case phase::idle:
    case phase::lost: break;
  }
  return {};
}

sequential_recipe::step sequential_recipe::on_acquire_reply(const reply& r, time_point now,
                                                            const timing& t) noexcept {
  // The own node is there, and would wait or hold in no order: it is removed first.
  if (r.what == verdict::failed && r.why == errc::exhausted) return leave(r.why, now, t);
  switch (asks_in_) {
    case state::creating: return on_create_reply(r, now, t);
    case state::resolving:
    case state::listing: return on_list_reply(r, now, t);
    case state::watching: return on_watch_reply(r, now, t);
    default: return {};
  }
}

sequential_recipe::step sequential_recipe::on_create_reply(const reply& r, time_point now,
                                                           const timing& t) noexcept {
  switch (r.what) {
    case verdict::created: return ask(state::listing, now, t);
    case verdict::no_parent: return {.send = operation::create};
    case verdict::failed: {
      step out = become_idle(claim_event::refused, r.why);
      out.orphan = r.number != 0;  // it was made, and is of no use
      return out;
    }
    default: return on_list_reply(r, now, t);
  }
}

sequential_recipe::step sequential_recipe::on_list_reply(const reply& r, time_point now,
                                                         const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted: met_others_ = r.others_wait; return hold(r, now);
    case verdict::behind:
      met_others_ = true;
      if (one_attempt_) return leave(errc::timed_out, now, t);
      is_unbroken_ = true;
      if (r.is_watched && watches_own_) return wait_for_event();
      return ask(state::watching, now, t);
    case verdict::gone: return begin(now, t);
    case verdict::failed: return give_up(r.why);
    default: return {};
  }
}

sequential_recipe::step sequential_recipe::on_watch_reply(const reply& r, time_point now,
                                                          const timing& t) noexcept {
  if (r.what == verdict::failed) return give_up(r.why);
  is_revoked_ = r.is_revoked;
  if (r.what != verdict::watched) return ask(state::listing, now, t);
  watches_own_ = true;
  return on_left(r.ahead, r, now, t);
}

sequential_recipe::step sequential_recipe::wait_for_event() noexcept {
  asks_in_ = state::waiting;
  return {.sleeps = true};
}

sequential_recipe::step sequential_recipe::on_reply_while_held(const reply& r) noexcept {
  step out;
  switch (r.to) {
    case operation::downgrade:
      is_downgrading_ = false;
      if (r.what == verdict::failed && !watches_own_) out.send = operation::watch_own;
      [[fallthrough]];
    case operation::watch_own:
      if (r.what == verdict::gone) return become_lost(errc::not_held);
      if (r.what == verdict::watched) watches_own_ = true;
      out.event = note_request(r).event;
      break;
    case operation::check_waiters: return r.others_wait ? note_others() : out;
    default: break;
  }
  return out;
}

sequential_recipe::step sequential_recipe::hold(const reply& r, time_point now) noexcept {
  step out = become_held(r, now);
  if (is_revoked_) out.event = out.event | claim_event::revocation;
  if (watches_own_) return out;
  out.wake = now + own_watch_after;
  out.spread = own_watch_spread;
  return out;
}

sequential_recipe::step sequential_recipe::on_cut(operation op, std::uint32_t epoch, time_point now,
                                                  const timing& t) noexcept {
  if (epoch != epoch_) return {};
  if (is_leaving()) return remove_again();
  if (is_acquiring() && asks_in_ != state::waiting)
    return ask_again(planted(mutant::create_repeated) ? state::creating : state::resolving, t);
  if (!is_held()) return {};
  if (op != operation::watch_own) return {.send = op};
  return {.sleeps = true, .wake = now + own_watch_after};
}

// In any other state the reply that comes counts this event.
sequential_recipe::step sequential_recipe::on_ahead(what_is_ahead left, time_point deadline,
                                                    duration term, time_point now,
                                                    const timing& t) noexcept {
  if (now_in() != state::waiting) return {};
  reply r;
  r.number = number_;
  r.deadline = deadline;
  r.term = term;
  return on_left(left, r, now, t);
}

sequential_recipe::step sequential_recipe::on_left(what_is_ahead left, reply grant, time_point now,
                                                   const timing& t) noexcept {
  if (left == what_is_ahead::watched) return wait_for_event();
  const bool is_known = left == what_is_ahead::nothing && is_unbroken_ && watches_own_;
  if (!is_known) return ask(state::listing, now, t);
  grant.others_wait = true;  // the queue has not been listed since: assume waiters
  return hold(grant, now);
}

sequential_recipe::step sequential_recipe::on_own_node(bool has_ended, time_point now,
                                                       const timing& t) noexcept {
  const bool is_seen = !planted(mutant::own_end_unseen);
  if (is_seen) watches_own_ = false;
  if (is_seen && now_in() == state::waiting) return ask(state::listing, now, t);
  // Its own request may have ended the node; the answer tells.
  if (!is_seen || !is_held() || is_downgrading_) return {};
  if (has_ended) return become_lost(errc::not_held);
  return {.send = operation::watch_own};
}

sequential_recipe::step sequential_recipe::on_children() noexcept {
  return is_held() && !others_wait_ ? step{.send = operation::check_waiters} : step{};
}

// The events that were missed come now, in any order: none of them grants by itself.
sequential_recipe::step sequential_recipe::on_attached() noexcept {
  if (!planted(mutant::event_after_attaching_grants)) is_unbroken_ = false;
  return {};
}

sequential_recipe::step sequential_recipe::on_session_lost(time_point now,
                                                           const timing& t) noexcept {
  if (!is_acquiring()) return end_with_session();
  return begin(one_attempt_ ? since_ : now, t);
}

}  // namespace holdfast::zookeeper
