// The cohort's answers to its backend and to the clock.
#include <algorithm>
#include <utility>

#include "core/cohort.hpp"
#include "core/mutant.hpp"

namespace holdfast::core {

using detail::turn;
using state = conversation::state;

void cohort::on_granted(conversation& c, const grant& g) {
  if (&c != live_ || (c.now != state::asking && c.now != state::withdrawing)) return;
  c.now = state::held;
  number_ = g.number;
  deadline_ = g.deadline;
  ttl_ = c.ttl;
  wanted_ = g.others_wait;
  turns_ = 0;
  shown_ = false;
  handed_rest_ = g.handed ? (deadline_ - g.seen) / 16 * 15 : duration::zero();
  turns_end_ = has_crowd() ? saturating_add(g.seen, rules_.options.turn_time) : never;
  if (leased() && deadline_ <= g.seen) {  // too late to be worth anything: it is given back
    answer_line({errc::unavailable, "the answer took longer than the ttl; raise the ttl"}, true);
    return release_and_ask();
  }
  start_turn(g.seen);
}

void cohort::on_refused(conversation& c, failure why) {
  if (&c != live_ || (c.now != state::asking && c.now != state::withdrawing)) return;
  live_ = nullptr;
  idle(c);
  answer_line(why, why.code == errc::timed_out);
  ask_if_wanted();
}

void cohort::on_moved(conversation& c, time_point deadline, std::uint32_t ticket, time_point now) {
  if (&c != live_ || c.now != state::held) return;
  if (planted(mutant::renewal_revives_lost) && current_) {
    current_->now = turn::fate::held;
  } else {
    tick_grant(now);  // what has run out by now stays lost
    if (&c != live_ || c.now != state::held) return;
    if (current_ && current_->now != turn::fate::held) return;
  }
  handed_rest_ = duration::zero();
  shown_ = true;
  deadline_ = ticket < shortened_by_ ? std::min(deadline, deadline_) : deadline;
  answer_renewals(c, ticket, {});
  if (turn_waits_for_renewal_) return start_turn(now);
  if (!current_) return;
  current_->deadline.store(deadline_, std::memory_order_release);
  current_->doubted = false;
  plan_renewal();
}

void cohort::on_lost(conversation& c, time_point) {
  if (&c != live_ || c.now != state::held) return;
  if (current_ && current_->now == turn::fate::held) lose(turn::fate::lost);
  if (turn_waits_for_renewal_) release_and_ask();
}

void cohort::on_wanted(conversation& c) {
  if (&c == live_) wanted_ = true;
}

void cohort::on_ended(conversation& c, failure why) {
  if (c.now != state::withdrawing && c.now != state::releasing) return;
  if (&c == live_) live_ = nullptr;
  answer_releases(c, why);
  idle(c);
  if (!planted(mutant::leaver_ends_the_wait)) ask_if_wanted();
}

void cohort::tick(time_point now) {
  tick_grant(now);
  if (earliest_until_ > now) return;
  earliest_until_ = never;
  for (waiter* w = first_; w;) {
    waiter* const after = w->after;
    if (w->until <= now) {
      withdraw(*w, errc::timed_out);
    } else {
      earliest_until_ = std::min(earliest_until_, w->until);
    }
    w = after;
  }
  answer_overdue(now);
}

void cohort::tick_grant(time_point now) {
  if (!live_ || live_->now != state::held || !leased()) return;
  if (turn_waits_for_renewal_) {
    if (deadline_ <= now) return release_and_ask();
    if (renew_at_ <= now) renew(first_ ? first_->how.ttl : ttl_, now);
    return;
  }
  if (!current_ || current_->now != turn::fate::held) return;
  if (deadline_ <= now) return lose(turn::fate::lost);
  if (!current_->doubted && deadline_ - notice() <= now) {
    current_->doubted = true;
    if (!planted(mutant::doubt_not_told)) tell(current_->doubt);
  }
  if (renew_at_ <= now) renew(current_->ttl, now);
}

time_point cohort::next_tick() const noexcept {
  time_point next = earliest_until_;
  if (!live_ || live_->now != state::held || !leased()) return next;
  const bool holding = current_ && current_->now == turn::fate::held;
  if (!holding && !turn_waits_for_renewal_) return next;
  next = std::min({next, renew_at_, deadline_});
  if (holding && !current_->doubted) next = std::min(next, deadline_ - notice());
  return next;
}

// How long before the deadline a holder is told that it may lose the lock.
duration cohort::notice() const noexcept {
  if (handed_rest_ > duration::zero()) return handed_rest_ / 2;
  const duration ttl = current_->ttl;
  return std::min(rules_.options.grace + ttl / 10, ttl / 2);
}

// How long a lock is held before the store learns who holds it.
constexpr duration shown_after = std::chrono::seconds{1};

// Before a third of the ttl is gone, counted from the send that the deadline was counted from.
// What was handed over for a short window is renewed early in it, but not at once: who lets go
// within a sixteenth of the window spares the server the renewal.
void cohort::plan_renewal() noexcept {
  if (handed_rest_ > duration::zero()) {
    renew_at_ = deadline_ - handed_rest_;
    return;
  }
  duration rest = planted(mutant::renewal_starts_late) ? ttl_ / 10 : ttl_ * 7 / 10;
  if (rules_.can.shown_by_renewal && !shown_) rest = std::max(rest, ttl_ - shown_after);
  renew_at_ = leased() && current_->renews ? together(deadline_ - rest) : never;
}

// At most a sixty-fourth of the ttl earlier: the renewals of a client come in batches, each one
// wake-up and one write, and the batches of two clients do not coincide.
time_point cohort::together(time_point t) const noexcept {
  const duration step = ttl_ / 64;
  return t - (t.time_since_epoch() + duration(rules_.phase)) % step;
}

// Says it, and says it again well inside the rest of the ttl when no answer comes.
void cohort::renew(duration ttl, time_point now) {
  ttl_ = ttl;
  live_->ttl = ttl;
  live_->ticket = ++ticket_;
  say(*live_, conversation::renew);
  shorten(now + ttl - ttl / 100 - std::chrono::milliseconds{2} - rules_.options.clock_skew);
  const bool again = turn_waits_for_renewal_ || current_->renews;
  renew_at_ = again && !planted(mutant::renewal_not_repeated)
                  ? together(now + jittered(*rules_.env, ttl / 10, 0.2))
                  : never;
}

// A renewal that asks for less than what is left shortens the lease at the store, whether or not
// its answer arrives: from the send on no more may be relied on.
void cohort::shorten(time_point end) noexcept {
  if (end >= deadline_) return;
  deadline_ = end;
  shortened_by_ = ticket_;
  if (current_) current_->deadline.store(end, std::memory_order_release);
}

}  // namespace holdfast::core
