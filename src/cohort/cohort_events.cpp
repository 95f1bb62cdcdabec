// The cohort's side towards its backend.
#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;
using state = claim_record::state;

void cohort::on_granted(claim_record& c, const grant& g) {
  if (&c != requesting_) return;
  requesting_ = nullptr;
  hold(c);
  count(counters::grants);
  if (g.provisional) count(counters::grants_handed);
  c.now = state::held;
  c.number = g.number;
  c.deadline = g.deadline;
  c.is_wanted = g.others_wait || rules_.can.wanted == wanted_by::silent;
  c.line_unseen = g.line_unseen;
  c.turns = c.places = 0;
  c.shown = c.is_lost = c.is_fresh = c.waits_for_renewal = false;
  c.provisional_rest = {};
  if (g.provisional)
    c.provisional_rest = std::chrono::floor<claim_record::short_time>(
        std::min<duration>((g.deadline - g.seen) / 16 * 15, std::chrono::hours{1}));
  c.turns_end = first_ != last_ ? saturating_add(g.seen, rules_.options.turn_time) : never;
  if (c.is_leased() && c.deadline <= g.seen) {  // the reply came too late to use: release it
    answer_line({errc::unavailable, "the answer took longer than the ttl; raise the ttl"}, true);
    return release_and_request(c);
  }
  grant_turns(c, g.seen);
  request_if_wanted();
}

bool cohort::clock_matters() const noexcept {
  return first_ && (rules_.counts || first_ != last_ || first_->max_hold != duration::max());
}

void cohort::on_refused(claim_record& c, const failure& why) {
  if (&c != requesting_) return;
  requesting_ = nullptr;
  idle(c);
  const bool is_of_attempts =
      why.code == errc::timed_out || (why.code == errc::unavailable && c.one_attempt);
  answer_line(why, is_of_attempts);
  request_if_wanted();
}

void cohort::on_extended(claim_record& c, time_point deadline, std::uint32_t ticket,
                         time_point now) {
  if (!is_held(c)) return;
  if (planted(mutant::renewal_revives_lost) && c.inside_first) {
    c.is_lost = false;
    c.inside_first->now = turn::fate::held;
  } else {
    tick_grant(c, now);  // what has expired by now stays lost
    if (!is_held(c) || c.is_lost) return;
  }
  count_renewal(c, ticket, now);
  c.provisional_rest = {};
  c.shown = true;
  c.deadline = ticket < c.shortened_by ? std::min(deadline, c.deadline) : deadline;
  answer_renewals(c, ticket, {});
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (t->is_held_by_word()) t->doubted = false;
  publish(c);
  if (c.inside_first) plan_renewal(c);
  if (!std::exchange(c.waits_for_renewal, false)) return;
  c.is_fresh = true;
  grant_turns(c, now);
  c.is_fresh = false;
  request_if_wanted();
}

void cohort::on_lost(claim_record& c, std::error_code why) {
  if (!is_held(c)) return;
  if (!c.inside_first) return release_and_request(c);
  if (c.is_lost) return;
  using fate = turn::fate;
  lose(c, why == errc::not_held    ? fate::forgotten
          : why == errc::timed_out ? fate::ran_out
                                   : fate::taken);
}

void cohort::on_wanted(claim_record& c) {
  if (!is_held(c)) return;
  c.is_wanted = true;
  close_admission(c);
  if (c.lingers() && !planted(mutant::linger_kept)) release_and_request(c);
}

claim_record* cohort::lingering_unseen() const noexcept {
  const bool unseen = rules_.can.wanted == wanted_by::poll && held_ && held_->lingers();
  return unseen ? held_ : nullptr;
}

void cohort::polled(claim_record& c, bool others_wait, time_point now) {
  if (!is_held(c)) return;
  c.is_wanted = others_wait;
  if (!c.lingers()) return;
  c.renew_at = now + polled_every;
  if (others_wait && !planted(mutant::linger_kept)) release_and_request(c);
}

void cohort::on_ended(claim_record& c, const failure& why) {
  if (c.now != state::withdrawing && c.now != state::releasing) return;
  if (&c == requesting_) requesting_ = nullptr;
  const bool was_awaited = answer_releases(c, why);
  if (rules_.counts && why.code && !was_awaited) rules_.counts->failed(why.code);
  idle(c);
  if (!planted(mutant::leaver_ends_the_wait)) request_if_wanted();
}

}  // namespace holdfast::core
