#include "backend/file/recipe.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace holdfast::file {

using base::mutant;
using base::planted;

namespace {

constexpr unsigned char reopenings_max = 100;  // another process deletes the file all the time

}  // namespace

std::int64_t next_number(std::int64_t in_file, std::int64_t ours,
                         std::chrono::microseconds wall) noexcept {
  const std::int64_t next =
      planted(mutant::file_number_forgotten) ? 1 : std::max(in_file, ours) + 1;
  const auto least = planted(mutant::number_not_floored) ? 0 : std::int64_t{wall.count()};
  return std::max(next, least);
}

std::int64_t least_number(const observation& seen) noexcept {
  return seen.what == content::empty && planted(mutant::floor_forgotten) ? 0 : seen.number;
}

action recipe::go(state next, action doing) noexcept {
  state_ = next;
  return doing;
}

action recipe::refuse_unlocked(reason why) noexcept {
  why_ = why;
  return go(state::free, action::refuse);
}

action recipe::refuse_locked(reason why) noexcept {
  why_ = why;
  return go(state::refusing, action::unlock);
}

action recipe::start() noexcept {
  if (request_.behind && !request_.one_attempt) return go(state::waiting, action::wait);
  return go(state::trying, action::try_lock);
}

action recipe::acquire(const request& w) noexcept {
  request_ = w;
  reopened_ = 0;
  return w.is_open ? start() : go(state::opening, action::open);
}

action recipe::looked(const observation& seen) noexcept {
  if (!seen.same_file) {
    if (++reopened_ > reopenings_max) return refuse_locked(reason::unsteady);
    return go(state::opening, action::reopen);
  }
  if (seen.what == content::garbage) return refuse_locked(reason::garbage);
  if (seen.what == content::another) return refuse_locked(reason::another);
  if (!alone()) return looked_together(seen);
  const std::int64_t next = next_number(least_number(seen), number_, seen.wall);
  if (next > number_max) return refuse_locked(reason::exhausted);
  number_ = next;
  return go(state::writing, action::write);
}

action recipe::fail() noexcept {
  const bool locked = state_ == state::guarding || state_ == state::looking ||
                      state_ == state::claiming || state_ == state::writing ||
                      state_ == state::marking;
  return locked ? refuse_locked(reason::failed) : refuse_unlocked(reason::failed);
}

action recipe::on(event e) noexcept {
  if (e == event::failed) return fail();
  if (e == event::another) return refuse_unlocked(reason::another_kind);
  const bool is_locked = e == event::locked;
  switch (state_) {
    case state::opening: return start();
    case state::trying:
      if (is_locked) return locked();
      // The exclusive holder may only be removing the file, or inspecting it.
      if (request_.one_attempt || request_.as.mode == lock_mode::permit)
        return go(state::retrying_unprobed, action::try_unprobed);
      return go(state::waiting, action::wait);
    case state::retrying_unprobed:
      if (is_locked) return locked();
      if (request_.one_attempt) return refuse_unlocked(reason::busy);
      return go(state::waiting, action::wait);
    case state::waiting: return is_locked ? locked() : go(state::free, action::end);
    case state::guarding:
      if (e == event::guarded) return go(state::looking, action::look);
      if (e == event::interrupted) return go(state::releasing, action::unlock);
      return step_back(reason::failed);
    case state::claiming:
      if (e == event::full) return step_back(reason::busy);
      return joins_ ? go(state::marking, action::mark) : go(state::writing, action::write);
    case state::writing:
      return alone() ? go(state::held, action::grant) : go(state::marking, action::mark);
    case state::marking: return go(state::held, action::grant);
    case state::held: return go(state::releasing, action::unlock);
    case state::releasing: return go(state::free, action::end);
    case state::refusing: return go(state::free, action::refuse);
    case state::stepping_back: return go(state::waiting, action::wait);
    case state::looking:
    case state::free: break;
  }
  return refuse_unlocked(reason::failed);  // unreachable: no other event occurs in these states
}

action recipe::locked() noexcept {
  return alone() ? go(state::looking, action::look) : go(state::guarding, action::guard);
}

// Not now: the claim waits, or is refused when it has one attempt.
action recipe::step_back(reason why) noexcept {
  if (request_.one_attempt) return refuse_locked(why);
  return go(state::stepping_back, action::unlock);
}

action recipe::looked_together(const observation& seen) noexcept {
  const bool shares = request_.as.mode == lock_mode::shared;
  const bool others =
      seen.taken && seen.what == content::record && seen.as.mode != lock_mode::exclusive;
  if (others && seen.as.of != request_.as.of) return refuse_locked(reason::another_kind);
  // A single attempt on a free lock is admitted: it delays waiters only briefly.
  const bool waits = seen.others_first && (seen.taken || !request_.one_attempt);
  if (waits && !planted(mutant::file_writer_starved)) return step_back(reason::busy);
  joins_ = others && shares && !planted(mutant::file_group_renumbered);
  const std::int64_t number =
      joins_ ? seen.number : next_number(least_number(seen), number_, seen.wall);
  if (number > number_max) return refuse_locked(reason::exhausted);
  number_ = number;
  return go(state::claiming, action::claim_bytes);
}

}  // namespace holdfast::file
