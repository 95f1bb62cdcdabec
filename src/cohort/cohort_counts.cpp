// The cohort's metrics, where its client counts.
#include <utility>

#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::count(counters::counter which) const noexcept {
  if (rules_.counts) rules_.counts->count(which);
}

// Called before t joins the turns of c.
void cohort::count_turn(const claim_record& c, const waiter& w, turn& t, time_point now) const {
  rules_.counts->waited(w.request.mode, w.asked == time_point{} ? duration::zero() : now - w.asked);
  if (c.inside_first) rules_.counts->count(counters::shares_joined);
  turn::rare_details& more = t.more();
  more.began = now;
  more.mode = w.request.mode;
}

// A lease that expired before its holder left counts as lost, even if tick() had not run yet.
void cohort::count_hold(turn& t, time_point now) const {
  rules_.counts->held(t.more().mode, now - t.more().began);
  if (!t.is_held_by_word() || t.deadline.load(std::memory_order_relaxed) > now) return;
  rules_.counts->count(counters::losses);
  if (!t.doubted) rules_.counts->count(counters::doubts);
}

// Called before the reply changes c. A renewal that was not planned, or was requested early, counts
// as a confirmation only, without a lag.
void cohort::count_renewal(const claim_record& c, std::uint32_t ticket, time_point now) const {
  if (!rules_.counts) return;
  rules_.counts->count(counters::renewals_confirmed);
  const time_point due = ticket == c.shortened_by ? never : renewal_due(c);
  if (due <= now) rules_.counts->lagged(now - due);
}

}  // namespace holdfast::core
