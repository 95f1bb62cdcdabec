// What of a cohort is counted, where its client counts.
#include <utility>

#include "base/mutant.hpp"
#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::count(counters::counter which) const noexcept {
  if (rules_.counts) rules_.counts->count(which);
}

// Before c lets it in.
void cohort::count_turn(const claim_record& c, const waiter& w, turn& t, time_point now) const {
  rules_.counts->waited(w.request.mode, w.asked == time_point{} ? duration::zero() : now - w.asked);
  if (c.inside_first) rules_.counts->count(counters::shares_joined);
  turn::rare_details& more = t.more();
  more.began = now;
  more.mode = w.request.mode;
}

// A lease that had run out when its holder left was lost, even if nobody had looked yet.
void cohort::count_hold(turn& t, time_point now) const {
  rules_.counts->held(t.more().mode, now - t.more().began);
  if (!t.is_held_by_word() || t.deadline.load(std::memory_order_relaxed) > now) return;
  rules_.counts->count(counters::losses);
  if (!t.doubted) rules_.counts->count(counters::doubts);
}

// Before the answer changes c. Of a renewal that nothing had planned, or that was asked for early,
// only the confirmation counts.
void cohort::count_renewal(const claim_record& c, std::uint32_t ticket, time_point now) const {
  if (!rules_.counts) return;
  rules_.counts->count(counters::renewals_confirmed);
  const time_point due = ticket == c.shortened_by ? never : renewal_due(c);
  if (due <= now) rules_.counts->lagged(now - due);
}

void cohort::doubt(turn& t) {
  t.doubted = true;
  count(counters::doubts);
  if (!planted(mutant::doubt_not_told)) tell(t.doubt);
}

}  // namespace holdfast::core
