// The second table of recipe.hpp: readers, and holders of permits.
#include "backend/file/recipe.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {

using core::mutant;
using core::planted;

// Not now: the claim waits, or is refused when it has one attempt.
action recipe::step_back(reason why) noexcept {
  if (request_.one_attempt) return refuse_locked(why);
  return go(state::stepping_back, action::unlock);
}

action recipe::looked_together(const observation& seen) noexcept {
  const bool shares = request_.as.how == lock_mode::shared;
  const bool others =
      seen.taken && seen.what == content::record && seen.as.how != lock_mode::exclusive;
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

action recipe::on_together(event e) noexcept {
  switch (state_) {
    case state::opening: return start();
    case state::trying:
      if (e == event::locked) return go(state::guarding, action::guard);
      // The exclusive holder may only be removing the file, or inspecting it.
      if (request_.one_attempt || request_.as.how == lock_mode::permit)
        return go(state::retrying_unprobed, action::try_unprobed);
      return go(state::waiting, action::wait);
    case state::retrying_unprobed:
      if (e == event::locked) return go(state::guarding, action::guard);
      if (request_.one_attempt) return refuse_unlocked(reason::busy);
      return go(state::waiting, action::wait);
    case state::waiting:
      if (e == event::locked) return go(state::guarding, action::guard);
      return go(state::free, action::end);
    case state::guarding:
      if (e == event::guarded) return go(state::looking, action::look);
      if (e == event::interrupted) return go(state::releasing, action::unlock);
      return step_back(reason::failed);
    case state::claiming:
      if (e == event::full) return step_back(reason::busy);
      return joins_ ? go(state::marking, action::mark) : go(state::writing, action::write);
    case state::writing: return go(state::marking, action::mark);
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

}  // namespace holdfast::file
