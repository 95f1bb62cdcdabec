// A grant's life in the cohort: what the backend reports of it, which waiters get a turn under it,
// and how the turns are lost.
#include <algorithm>
#include <limits>
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
  if (g.lease_term > duration::zero()) c.ttl = g.lease_term;
  c.turns = c.places = 0;
  c.shown = c.is_lost = c.is_doubtful = c.is_fresh = c.is_revoked = c.waits_for_renewal = false;
  c.provisional_rest = {};
  if (g.provisional)
    c.provisional_rest = std::chrono::floor<claim_record::short_time>(
        std::min<duration>((g.deadline - g.seen) / 16 * 15, std::chrono::hours{1}));
  c.turns_end = first_ != last_ ? saturating_add(g.seen, rules_.options.turn_time) : never;
  if (c.has_deadline() && c.deadline <= g.seen) {  // the reply came too late to use: release it
    answer_line({errc::unavailable, rules_.can.core_renews()
                                        ? "the answer took longer than the ttl; raise the ttl"
                                        : "the answer came after the end of the session"},
                true);
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
  const bool is_unasked = ticket == 0;
  if (is_unasked && planted(mutant::unasked_extension_ignored)) return;
  if (planted(mutant::renewal_revives_lost) && c.inside_first) {
    c.is_lost = false;
    c.inside_first->now = turn::fate::held;
  } else {
    tick_grant(c, now);  // what has expired by now stays lost
    if (!is_held(c) || c.is_lost) return;
  }
  if (is_unasked) {
    extend_unasked(c, deadline);
  } else {
    count_renewal(c, ticket, now);
    c.provisional_rest = {};
    c.shown = true;
    c.deadline = ticket < c.shortened_by ? std::min(deadline, c.deadline) : deadline;
    answer_renewals(c, ticket, {});
    if (ticket == c.ticket) end_extensions(c);
    end_doubt(c);
  }
  publish(c);
  if (c.inside_first) plan_renewal(c);
  if (!std::exchange(c.waits_for_renewal, false)) return;
  c.is_fresh = true;
  grant_turns(c, now);
  c.is_fresh = false;
  request_if_wanted();
}

// The last renewal is confirmed, and with it the ttl of each extension before it.
void cohort::end_extensions(claim_record& c) noexcept {
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (!t->is_plain()) t->more().confirmed_ttl = {};
}

// The session's or the connection's deadline moves. An earlier one confirms nothing.
void cohort::extend_unasked(claim_record& c, time_point deadline) {
  if (deadline >= c.deadline) end_doubt(c);
  c.deadline = deadline;
}

// Not where a turn's own limit is near, which no renewal moves.
void cohort::end_doubt(claim_record& c) noexcept {
  c.is_doubtful = false;
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (t->is_held_by_word() && t->fate_at_deadline() != turn::fate::hold_ended) t->doubted = false;
}

void cohort::on_doubtful(claim_record& c, time_point now) {
  if (!is_held(c) || planted(mutant::doubt_ignored)) return;
  tick_grant(c, now);  // what has expired by now is lost, not doubtful
  if (!is_held(c) || c.is_lost) return;
  c.is_doubtful = true;
  for (turn* t = c.inside_first; t; t = t->next_inside()) {
    if (!t->is_held_by_word() || t->doubted) continue;
    doubt(*t);
    notices_of_now().doubts.push_back(turn::fate::ran_out);
  }
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

// Whoever asks may queue nowhere: the grant ends with the turns inside all the same.
void cohort::on_revocation_requested(claim_record& c) {
  if (!is_held(c) || planted(mutant::revocation_ignored)) return;
  c.is_revoked = true;
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (t->is_held_by_word() && !t->is_plain()) request_notice(t->more().revocation);
  on_wanted(c);
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

// Whether the waiter may hold the grant beside the turns inside.
bool cohort::has_room_for(const claim_record& c, const waiter& w) const noexcept {
  if (c.is_lost || c.waits_for_renewal || c.now != claim_record::state::held) return false;
  if (w.request.mode == lock_mode::permit)
    return c.mode == lock_mode::permit && c.turns == 0 && c.permits == w.request.permits;
  if (!c.inside_first) {
    if (c.mode == lock_mode::permit ||
        (c.mode == lock_mode::shared && w.request.mode == lock_mode::exclusive))
      return false;
    return c.mode == lock_mode::shared || c.places < turns_per_grant ||
           planted(mutant::turn_past_1023);
  }
  return w.request.mode == lock_mode::shared && c.mode_inside == lock_mode::shared;
}

// Readers join readers until another client waits: at once where the store pushes that, else when
// the budget is spent. Otherwise a stream of readers would starve a writer.
bool cohort::is_admission_closed(const claim_record& c, time_point now) const noexcept {
  if (!c.is_wanted) return false;
  return rules_.can.wanted == wanted_by::push || budget_is_spent(c, now);
}

// Whether readers may join through common_share, without the cohort: nobody is queued, and nobody
// waits at a store that would push it. With metrics each turn is counted, so none joins there.
bool cohort::is_admitting(const claim_record& c) const noexcept {
  return rules_.can.wanted == wanted_by::push && !c.is_wanted && !first_ && !rules_.counts;
}

void cohort::close_admission(claim_record& c) noexcept {
  if (planted(mutant::door_left_open)) return;
  for (turn* t = c.inside_first; t; t = t->next_inside())
    t->is_admitting.store(false, std::memory_order_release);
}

bool cohort::budget_is_spent(const claim_record& c, time_point now) const noexcept {
  return c.is_revoked || c.turns >= rules_.options.turns || now >= c.turns_end;
}

bool cohort::is_spent(const claim_record& c, time_point now) const noexcept {
  if (c.has_deadline() && c.deadline <= now) return true;
  if (c.mode == lock_mode::shared && is_admission_closed(c, now)) return true;
  return c.is_wanted && budget_is_spent(c, now) && !planted(mutant::wanted_ignored);
}

// Gives the waiters at the front that may hold the grant a turn; of readers all that were queued
// together, also when admission closes after them. With no turn inside, releases the grant.
void cohort::grant_turns(claim_record& c, time_point now) {
  const bool opens = !c.inside_first;
  const auto is_open = [&] { return opens || !is_admission_closed(c, now); };
  while (first_ && !closed_ && has_room_for(c, *first_) && is_open() && start_turn(c, now)) {}
  if (c.waits_for_renewal) return;
  if (!c.inside_first) return release_and_request(c);
  // Admission closed while a renewal was awaited: one-attempt callers do not wait for a holder to
  // leave.
  if (first_ && c.mode != lock_mode::permit) answer_line({errc::timed_out, {}}, true);
}

namespace {

// With thousands of waiters, the next one's stack has left the cache when its turn comes: the
// waiter and the frames around it are prefetched while the one before it has its turn.
void fetch_ahead(const waiter* next) noexcept {
  constexpr int line = 64, below = 8 * line, above = 10 * line;
  if (!next) return;
  const auto* const at = reinterpret_cast<const char*>(next);
  for (int offset = -below; offset < above; offset += line) __builtin_prefetch(at + offset, 1);
}

}  // namespace

// False: not before a renewal, or not at all.
bool cohort::start_turn(claim_record& c, time_point now) {
  waiter& w = planted(mutant::newcomer_first) ? *last_ : *first_;
  if (c.has_deadline()) {
    if (c.deadline <= now) return false;
    const bool opens_handed = c.provisional_rest.count() > 0 && (c.turns == 0 || c.inside_first);
    const bool is_short = rules_.can.core_renews() && c.deadline - now < w.request.ttl / 2;
    if (is_short && !opens_handed && !c.is_fresh && !planted(mutant::turn_on_short_lease)) {
      c.waits_for_renewal = true;
      renew(c, std::max(duration(w.request.ttl), ttl_needed(c, now)), now);
      return false;
    }
  }
  unlink(w);
  fetch_ahead(first_);
  turn& t = new_turn();
  if (rules_.counts) count_turn(c, w, t, now);
  t.is_share = w.request.mode == lock_mode::shared;
  if (!c.inside_first && (c.mode != lock_mode::shared || c.places == 0)) ++c.places;
  const std::int64_t place = planted(mutant::turn_not_counted) ? 0 : c.places - 1;
  t.token = rules_.can.tokens ? c.number * turns_per_grant + place : 0;
  t.ttl = rules_.can.core_renews() || !c.has_deadline() ? duration(w.request.ttl) : c.ttl;
  t.renews = w.renews;
  t.of = &c;
  if (c.permits != 1) t.more().permits = c.permits;
  if (w.max_hold != duration::max()) t.more().hold_end = saturating_add(now, w.max_hold);
  if (t.is_share && !t.renews && rules_.can.core_renews()) t.more().own_end = now + worth(t.ttl);
  if (c.inside_first && c.turns_end == never)
    c.turns_end = saturating_add(now, rules_.options.turn_time);
  add_holder(c, t);
  if (t.is_share && c.line_unseen) peek_line(c);
  t.deadline.store(std::min(c.deadline, t.own_limit()), std::memory_order_relaxed);
  t.is_admitting.store(t.is_share && is_admitting(c), std::memory_order_release);
  if (c.turns < std::numeric_limits<std::uint16_t>::max()) ++c.turns;
  plan_renewal(c);
  if (c.is_doubtful) doubt(t);
  w.granted = &t;
  answer(w);
  return true;
}

// The grant is lost for all turns that hold it.
void cohort::lose(claim_record& c, turn::fate why) {
  c.is_lost = true;
  c.renew_at = never;
  for (turn* t = c.inside_first; t; t = t->next_inside())
    if (t->is_held_by_word()) lose(*t, why == turn::fate::ran_out ? t->fate_at_deadline() : why);
  answer_renewals(c, c.ticket, {errc::lost, {}});
  // One-attempt callers do not wait for a holder to leave.
  answer_line({errc::timed_out, {}}, true);
  if (planted(mutant::loss_releases_early)) {
    for (turn* t = c.inside_first; t; t = t->next_inside()) t->of = nullptr;
    c.inside_first = nullptr;
    return release(c);
  }
  const bool admit = rules_.options.admit_after_loss || planted(mutant::turn_before_release);
  if (!turn::is_loss(why) || !admit) return;
  drop_grant(c);
  request_if_wanted();
}

void cohort::lose(turn& t, turn::fate why) {
  t.now.store(why, std::memory_order_release);
  t.is_admitting.store(false, std::memory_order_release);
  if (turn::is_loss(why)) {
    count(counters::losses);
    notices_of_now().losses.push_back(why);
  }
  if (!t.doubted) doubt(t);
  if (planted(mutant::loss_not_told)) return;
  request_notice(t.loss);
  answer_watches(t, {});
}

void cohort::doubt(turn& t) {
  t.doubted = true;
  count(counters::doubts);
  if (!planted(mutant::doubt_not_told)) request_notice(t.doubt);
}

cohort::notices& cohort::notices_of_now() {
  if (!notices_) notices_ = std::make_unique<notices>();
  return *notices_;
}

void cohort::request_notice(std::stop_source& source) {
  if (!source.stop_possible()) return;
  notices_of_now().sources.push_back(source);
}

}  // namespace holdfast::core
