// The cohort's side towards its callers.
#include "cohort/cohort.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::enter(waiter& w, time_point now) {
  w.asked = now;
  w.is_known_to_await = false;
  if (closed_) return answer(w, {errc::closed, "the client was closed"});
  if (w.until <= now) {  // as std::timed_mutex: one attempt is made even when the time is over
    w.request.one_attempt = true;
    w.until = never;
  }
  const bool joins = !first_ && held_ && !w.request.group && has_room_for(*held_, w) &&
                     (!held_->inside_first || !is_admission_closed(*held_, now)) &&
                     (!held_->has_deadline() || held_->deadline > now);
  if (w.request.one_attempt && !joins && !is_free_for(w))
    return answer(w, in_vain(errc::timed_out));
  if (!joins && !first_ && held_ && held_->inside_first)
    held_->turns_end = saturating_add(now, rules_.options.turn_time);
  push(w);
  if (!joins && held_) close_admission(*held_);
  earliest_until_ = std::min(earliest_until_, w.until);
  if (w.until != never) plan_hurry(w, now);
  if (joins || (held_ && held_->lingers())) {
    if (held_->lingers()) held_->turns_end = never;
    if (joins && !held_->inside_first) count(counters::linger_reuses);
    return grant_turns(*held_, now);
  }
  if (claim_record* const c = request_if_wanted()) c->turns_end = now;
}

// Whether no caller of this client is before it. A member of a lock group must always request
// itself: with a grant that another turn left behind, the store would not know of the group's
// request and could not grant the group in one step.
bool cohort::is_free_for(const waiter& w) const noexcept {
  if (w.request.group) return is_idle();
  if (first_ || (requesting_ && requesting_->now == claim_record::state::requesting)) return false;
  return !held_ || w.request.mode == lock_mode::permit || held_->lingers();
}

void cohort::withdraw(waiter& w, errc why, time_point now) {
  if (w.in_line) end_wait(w, in_vain(why), now);
}

void cohort::refuse_timed_waits(const failure& why, time_point now) {
  for (waiter* w = first_; w;) {
    waiter* const after = w->after;
    if (w->until != never) end_wait(*w, why, now);
    w = after;
  }
}

void cohort::end_wait(waiter& w, failure why, time_point now) {
  const bool was_first = &w == first_;
  unlink(w);
  answer(w, std::move(why));
  if (requesting_) {
    const bool in_vain = !first_ || first_->request.mode != requesting_->mode ||
                         first_->request.permits != requesting_->permits ||
                         (requesting_->extra && requesting_->extra->group);
    if (was_first && (in_vain || planted(mutant::leaver_ends_the_wait))) stop_requesting();
    return;
  }
  if (!held_ || !was_first) return;
  if (!first_) held_->waits_for_renewal = false;
  if (!held_->waits_for_renewal) grant_turns(*held_, now);
}

// The answer to a wait that failed: timed_out only where the lock is known to be busy, so that an
// outage is never reported as a held lock.
failure cohort::in_vain(errc why) const {
  const bool may_be_busy = is_held_here() || !rules_.store || !rules_.store->is_out();
  if (why != errc::timed_out || may_be_busy || planted(mutant::outage_told_as_busy))
    return {why, {}};
  failure out = rules_.store->read_reach().trouble;
  return out.code ? out : failure{why, {}};
}

void cohort::stop_requesting() {
  if (requesting_->now != claim_record::state::requesting) return;
  requesting_->now = claim_record::state::withdrawing;
  schedule(*requesting_, claim_record::cancel);
}

bool cohort::should_poll(const turn& t, time_point now) const noexcept {
  if (rules_.can.wanted != wanted_by::poll || !t.of || !is_held(*t.of)) return false;
  return (first_ || t.is_share) && budget_is_spent(*t.of, now);
}

void cohort::leave(turn& t, confirmation* report, time_point now) {
  claim_record* const of = t.of;
  if (of) remove_holder(*of, t);
  if (rules_.counts) count_hold(t, now);
  answer_watches(t, errc::not_held);
  spare_turn_.reset(&t);
  if (!of) {  // the client was closed: its claim has been released
    if (report) answer(*report, {errc::closed, "the client was closed"});
    return;
  }
  if (of->inside_first) {  // other readers hold the grant
    if (report) answer(*report);
    return;
  }
  if (!is_held(*of)) {  // lost, and another turn was admitted since
    of->now = claim_record::state::releasing;
    schedule(*of, claim_record::release);
    if (report) await(*report, *of, 0);
    return;
  }
  const bool goes_on = first_ && has_room_for(*of, *first_) && !is_spent(*of, now);
  if (goes_on) {
    if (of->line_unseen && budget_is_spent(*of, now)) peek_line(*of);
    count(counters::local_handoffs);
    if (report) answer(*report);
    return grant_turns(*of, now);
  }
  if (rules_.options.linger > duration::zero() && !report && may_linger(*of, now)) {
    if (of->line_unseen) peek_line(*of);
    of->turns_end = saturating_add(now, rules_.options.linger);
    of->renew_at = rules_.can.wanted == wanted_by::poll ? now + polled_every : never;
    return;
  }
  if (report) await(*report, *of, 0);
  release_and_request(*of);
}

// Called before the grant is kept for further turns of this client: they may keep it until the
// store reports that another client waits.
void cohort::peek_line(claim_record& c) noexcept {
  c.line_unseen = planted(mutant::taken_line_not_peeked);
  if (!c.line_unseen && !c.is_wanted) schedule(c, claim_record::peek_line);
}

bool cohort::may_linger(const claim_record& c, time_point now) const noexcept {
  if (first_ || closed_ || c.is_lost || c.mode == lock_mode::permit) return false;
  if (c.is_wanted && !planted(mutant::linger_kept)) return false;
  return !c.has_deadline() || linger_end(c) > now;
}

// A lingering grant is released shortly before it would expire.
time_point cohort::linger_end(const claim_record& c) noexcept {
  return c.has_deadline() ? c.deadline - c.ttl / 8 : never;
}

// Requests a grant for the first waiter, unless a grant that is held prevents it.
claim_record* cohort::request_next() {
  if (held_ && first_->request.mode != lock_mode::permit) return nullptr;
  for (const claim_record* c = held_; c; c = c->next)
    if (c->waits_for_renewal) return nullptr;  // it will serve the first waiter
  claim_record& c = idle_record();
  c.pending_verbs = 0;  // a stale cancel, overtaken by the answer, would withdraw the new claim
  c.now = claim_record::state::requesting;
  c.turns_end = {};
  c.one_attempt = first_->request.one_attempt;
  c.mode = first_->request.mode;
  c.permits = first_->request.permits;
  c.ttl = first_->request.ttl;
  const acquire_request& how = first_->request;
  const bool has_extra = !how.note.empty() || how.group;
  c.extra = has_extra ? std::make_unique<const claim_record::rare_details>(
                            claim_record::rare_details{std::string(how.note), how.group})
                      : nullptr;
  requesting_ = &c;
  ++busy_;
  schedule(c, claim_record::acquire);
  return &c;
}

void cohort::release(claim_record& c) {
  drop_grant(c);
  if (confirmations_ && !planted(mutant::released_renewal_unanswered))
    answer_renewals(c, c.ticket, {errc::not_held, "the lease was released"});
  c.now = claim_record::state::releasing;
  c.waits_for_renewal = false;
  c.deadline = never;
  c.renew_at = never;
  c.provisional_rest = {};
  schedule(c, claim_record::release);
}

void cohort::release_and_request(claim_record& c) {
  release(c);
  // Waiters of a lock group that was granted but could not start their turns must not acquire
  // alone.
  while (first_ && first_->request.group) {
    waiter& w = *first_;
    unlink(w);
    answer(w, {errc::timed_out, {}});
  }
  c.next = request_if_wanted();
}

void cohort::extend(turn& t, duration ttl, confirmation& i, time_point now) {
  if (const auto code = t.status()) return answer(i, {code, {}});
  claim_record& c = *t.of;
  if (!rules_.can.core_renews()) {
    if (rules_.can.has_deadlines())
      return answer(i, {errc::unsupported,
                        "its locks live as long as the client's session or connection, which the "
                        "client keeps alive by itself; do not extend them"});
    if (!rules_.options.strict) return answer(i, {});  // it lives longer than any ttl
    return answer(i, {errc::unsupported, "its locks have no ttl to extend; leave out ?strict=1"});
  }
  if (ttl > t.ttl) t.more().confirmed_ttl = t.confirmed_ttl();
  t.ttl = ttl;
  if (t.is_share) {
    if (!t.renews) t.more().own_end = now + worth(ttl);
    renew(c, ttl_needed(c, now), now);
    publish(c);
  } else {
    renew(c, ttl, now);
  }
  await(i, c, c.ticket);
}

failure cohort::downgrade(turn& t, time_point now) {
  if (const auto code = t.status()) return {code, {}};
  claim_record& c = *t.of;
  if (t.is_share || c.mode == lock_mode::permit)
    return {errc::mismatch, "it is no exclusive lease"};
  if (!(rules_.can.modes & bit_of(lock_mode::shared))) return {errc::unsupported, no_shared_locks};
  t.is_share = true;
  c.mode_inside = lock_mode::shared;
  if (!t.renews && rules_.can.core_renews())
    t.more().own_end = c.provisional_rest.count() > 0 ? now + worth(t.ttl)
                                                      : t.deadline.load(std::memory_order_relaxed);
  // Readers of other processes carry the grant's first token. When the grant has had several turns,
  // that one is older than this turn's token, and a guard would refuse the other readers. Then the
  // grant stays exclusive at the store until this client's readers have left.
  if (rules_.can.downgrade && c.places == 1) {
    c.mode = lock_mode::shared;
    schedule(c, claim_record::downgrade);
  } else if (c.line_unseen) {
    peek_line(c);
  }
  grant_turns(c, now);
  return {};
}

void cohort::close() {
  if (std::exchange(closed_, true)) return;
  answer_line({errc::closed, "the client was closed"}, false);
  if (requesting_) stop_requesting();
  while (held_) {
    claim_record& c = *held_;
    if (!c.is_lost) lose(c, turn::fate::closed);
    for (turn* t = c.inside_first; t; t = t->next_inside()) t->of = nullptr;
    c.inside_first = nullptr;
    if (is_held(c)) release(c);
  }
}

}  // namespace holdfast::core
