#include "backend/zookeeper/recipes/sequential.hpp"

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using core::mutant;
using core::planted;
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

sequential_recipe::step sequential_recipe::acquire(const core::acquire_request& request,
                                                   time_point now, const timing& t) noexcept {
  begin_wait(request, now);
  is_downgraded_ = false;
  return begin(now, t);
}

sequential_recipe::step sequential_recipe::downgrade(time_point, const timing&) noexcept {
  step out;
  if (!is_held()) return out;
  is_downgrading_ = is_downgraded_ = true;
  out.send = operation::downgrade;
  return out;
}

sequential_recipe::step sequential_recipe::check_waiters(time_point, const timing&) noexcept {
  step out;
  if (is_held()) out.send = operation::check_waiters;
  return out;
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
  step out;
  // In a downgrade the node changes its name; the answer has the new one watched.
  const bool has_a_name = !is_downgrading_ || planted(mutant::old_name_watched);
  if (!watches_own_ && has_a_name) out.send = operation::watch_own;
  return out;
}

}  // namespace holdfast::zookeeper
