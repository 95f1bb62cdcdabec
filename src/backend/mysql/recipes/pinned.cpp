#include "backend/mysql/recipes/pinned.hpp"

#include <algorithm>

#include "base/mutant.hpp"
#include "claim/recipes/back_off.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using claims::claim_event;

pinned_recipe::step pinned_recipe::acquire(const seam::acquire_request& request, time_point now,
                                           const timing& t) noexcept {
  begin_wait(request, now);
  state_ = state::trying;
  return begin(operation::try_lock, t);
}

pinned_recipe::step pinned_recipe::turn_to(state next, operation op, const timing& t) noexcept {
  state_ = next;
  return ask(op, t);
}

pinned_recipe::step pinned_recipe::on(const reply& r, time_point now, const timing& t) noexcept {
  if (is_late(r)) return {};
  if (is_acquiring()) return on_acquire_reply(r, now, t);
  if (!is_leaving()) return {};
  if (r.what == verdict::unknown) return end_leaving(errc::outcome_unknown);
  return on_removed(r, now, t);
}

pinned_recipe::step pinned_recipe::on_acquire_reply(const reply& r, time_point now,
                                                    const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted: return become_held(r, now);
    case verdict::waited:
      if (!planted(mutant::waited_grant_believed))
        return turn_to(state::confirming, operation::confirm, t);
      return become_held(r, now);
    case verdict::busy:
      if (one_attempt_) return become_idle(claim_event::refused, errc::timed_out);
      return turn_to(state::waiting, operation::wait, t);
    case verdict::absent: return turn_to(state::creating, operation::create, t);
    case verdict::done:
    case verdict::gone: return turn_to(state::trying, operation::try_lock, t);
    case verdict::not_now: return pause(now, t);
    default: {
      step out = become_idle(claim_event::refused, r.why == errc{} ? errc::refused : r.why);
      out.orphan = true;
      return out;
    }
  }
}

pinned_recipe::step pinned_recipe::pause(time_point now, const timing& t) noexcept {
  is_unconfirmed_ = state_ == state::confirming;
  state_ = state::paused;
  return {.sleeps = true,
          .wake = std::min(now + claims::failed_pause_min, due(t)),
          .spread = claims::failed_pause_min};
}

pinned_recipe::step pinned_recipe::on_lost(time_point, const timing& t) noexcept {
  if (is_held() && !planted(mutant::cut_connection_holds)) return end_with_session();
  if (!is_acquiring()) return {};
  state_ = state::trying;
  return begin(operation::try_lock, t);
}

pinned_recipe::step pinned_recipe::on_wake(time_point now, const timing& t) noexcept {
  if (is_acquiring() && state_ == state::paused && now < due(t))
    return is_unconfirmed_ ? turn_to(state::confirming, operation::confirm, t)
                           : turn_to(state::trying, operation::try_lock, t);
  return on_time(now, t, is_leaving());
}

}  // namespace holdfast::mysql
