// The cohort's deadlines: renewals, doubts, losses, time-outs, and the next tick.
#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::tick(time_point now) {
  for (claim_record* c = held_; c;) {
    claim_record* const after = c->next;
    tick_grant(*c, now);
    c = after;
  }
  if (hurry_at_ <= now) hurry(now);
  if (earliest_until_ > now) return;
  earliest_until_ = never;
  for (waiter* w = first_; w;) {
    waiter* const after = w->after;
    if (w->until <= now) {
      withdraw(*w, errc::timed_out, now);
    } else {
      earliest_until_ = std::min(earliest_until_, w->until);
    }
    w = after;
  }
  answer_overdue(now);
}

// Leaves the store time to connect and to answer. A wait that is shorter than that is urgent from
// the start and plans nothing.
void cohort::plan_hurry(const waiter& w, time_point now) noexcept {
  const time_point at = w.until - rules_.options.op_timeout / 8;
  if (rules_.store && at > now) hurry_at_ = std::min(hurry_at_, at);
}

void cohort::hurry(time_point now) {
  hurry_at_ = never;
  for (const waiter* w = first_; w; w = w->after)
    if (w->until != never) plan_hurry(*w, now);
  if (requesting_) rules_.store->hurry();
}

void cohort::tick_grant(claim_record& c, time_point now) {
  if (c.is_lost) return;
  if (c.lingers()) {
    if (std::min(c.turns_end, linger_end(c)) <= now) release_and_request(c);
    return;
  }
  if (c.has_deadline() && c.deadline <= now)
    return c.inside_first ? lose(c, turn::fate::ran_out) : release_and_request(c);
  for (turn* t = c.inside_first; t && !c.is_lost; t = t->next_inside())
    if (t->is_held_by_word()) tick_turn(c, *t, now);
  if (c.is_lost || c.renew_at > now) return;
  const duration waited_for =
      c.waits_for_renewal && first_ ? first_->request.ttl : duration::zero();
  renew(c, std::max(waited_for, ttl_needed(c, now)), now);
}

void cohort::tick_turn(claim_record& c, turn& t, time_point now) {
  const time_point end = t.deadline.load(std::memory_order_relaxed);
  if (end == never) return;
  if (end <= now) {
    if (!t.is_share) return lose(c, turn::fate::ran_out);
    lose(t, t.fate_at_deadline());
    return plan_renewal(c);
  }
  if (t.doubted || end - notice(c, t) > now) return;
  doubt(t);
  notices_of_now().doubts.push_back(t.fate_at_deadline());
}

time_point cohort::next_tick() const noexcept {
  time_point next = std::min(earliest_until_, hurry_at_);
  for (const claim_record* c = held_; c; c = c->next) next = std::min(next, next_tick_of(*c));
  return next;
}

time_point cohort::next_tick_of(const claim_record& c) const noexcept {
  if (c.is_lost) return never;
  if (c.lingers()) return std::min({c.turns_end, linger_end(c), c.renew_at});
  time_point next = std::min(c.renew_at, c.deadline);
  for (const turn* t = c.inside_first; t; t = t->next_inside()) {
    const time_point end = t->deadline.load(std::memory_order_relaxed);
    if (end == never || !t->is_held_by_word()) continue;
    next = std::min(next, t->doubted ? end : end - notice(c, *t));
  }
  return next;
}

// How long before its deadline a holder is notified that it may lose the lock.
duration cohort::notice(const claim_record& c, const turn& t) const noexcept {
  if (c.provisional_rest.count() > 0) return c.provisional_rest / 2;
  const duration ttl = t.confirmed_ttl();
  return std::min(rules_.options.grace + ttl / 10, ttl / 2);
}

// How long a lock is held before the store learns who holds it.
constexpr duration shown_after = std::chrono::seconds{1};

// Renews before a third of the ttl has passed, counted from the send that the deadline is counted
// from. A provisional grant is renewed early in its window, but not at once: a holder that releases
// within a sixteenth of the window saves the server the renewal.
void cohort::plan_renewal(claim_record& c) noexcept { c.renew_at = renewal_due(c); }

time_point cohort::renewal_due(const claim_record& c) const noexcept {
  if (c.provisional_rest.count() > 0) return c.deadline - c.provisional_rest;
  const auto renews = [](const turn& t) { return t.renews && t.is_held_by_word(); };
  const bool by_core =
      rules_.can.core_renews() || (planted(mutant::session_renewed_by_core) && c.has_deadline());
  const turn* t = by_core ? c.inside_first : nullptr;
  while (t && !renews(*t)) t = t->next_inside();
  if (!t) return never;
  duration rest = planted(mutant::renewal_starts_late) ? c.ttl / 10 : c.ttl * 7 / 10;
  if (rules_.can.shown_by_renewal && !c.shown) rest = std::max(rest, c.ttl - shown_after);
  return aligned(c, c.deadline - rest);
}

// At most a sixty-fourth of the ttl earlier: renewals of one client share a wake-up and a write,
// and those of two clients do not coincide.
time_point cohort::aligned(const claim_record& c, time_point t) const noexcept {
  const duration step = c.ttl / 64;
  return t - (t.time_since_epoch() + duration(rules_.phase)) % step;
}

// How long the grant must live from now for all turns that hold it.
duration cohort::ttl_needed(const claim_record& c, time_point now) const noexcept {
  duration most{};
  for (const turn* t = c.inside_first; t; t = t->next_inside()) {
    if (!t->is_held_by_word()) continue;
    const bool limited = t->is_share && !t->renews;
    most = std::max(most, limited ? std::chrono::ceil<std::chrono::milliseconds>(
                                        (t->own_limit() - now) * 102 / 100 + margin)
                                  : t->ttl);
  }
  return most > duration::zero() ? most : c.ttl;
}

// Sends a renewal, and another one well within the rest of the ttl when no answer comes. A
// provisional grant has only its short window: there it is repeated soon, and also for a holder
// that renews by hand. Otherwise one lost answer would lose a lock that the store has granted.
void cohort::renew(claim_record& c, duration ttl, time_point now) {
  c.ttl = ttl;
  ++c.ticket;
  count(counters::renewals_sent);
  schedule(c, claim_record::renew);
  shorten(c, now + worth(ttl));
  bool again = c.waits_for_renewal;
  for (const turn* t = c.inside_first; t && !again; t = t->next_inside()) again = t->renews;
  const duration window =
      planted(mutant::window_renewed_once) ? duration::zero() : duration(c.provisional_rest);
  c.renew_at = never;
  if (planted(mutant::renewal_not_repeated)) return;
  if (window > duration::zero())
    c.renew_at = now + jittered(*rules_.env, window / 4, 0.2);
  else if (again)
    c.renew_at = aligned(c, now + jittered(*rules_.env, ttl / 10, 0.2));
}

// A renewal for less than the time left shortens the lease at the store, whether or not its reply
// arrives: if the old deadline were kept, held() could be true after the store has ended the lease.
void cohort::shorten(claim_record& c, time_point end) noexcept {
  if (end >= c.deadline) return;
  c.deadline = end;
  c.shortened_by = c.ticket;
  publish(c);
}

// Passes the deadline to the turns that hold it, up to their own limits.
void cohort::publish(claim_record& c) noexcept {
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (t->is_held_by_word())
      t->deadline.store(std::min(c.deadline, t->own_limit()), std::memory_order_release);
}

}  // namespace holdfast::core
