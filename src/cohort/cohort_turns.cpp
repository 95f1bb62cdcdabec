// Which waiters get a turn, and how turns end.
#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;

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
  return c.turns >= rules_.options.turns || now >= c.turns_end;
}

bool cohort::is_spent(const claim_record& c, time_point now) const noexcept {
  if (c.is_leased() && c.deadline <= now) return true;
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
  if (c.is_leased()) {
    if (c.deadline <= now) return false;
    const bool opens_handed = c.provisional_rest.count() > 0 && (c.turns == 0 || c.inside_first);
    const bool is_short = c.deadline - now < w.request.ttl / 2;
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
  t.token = c.number * turns_per_grant + place;
  t.ttl = w.request.ttl;
  t.renews = w.renews;
  t.of = &c;
  if (c.permits != 1) t.more().permits = c.permits;
  if (w.max_hold != duration::max()) t.more().hold_end = saturating_add(now, w.max_hold);
  if (t.is_share && !t.renews && c.is_leased()) t.more().own_end = now + worth(t.ttl);
  if (c.inside_first && c.turns_end == never)
    c.turns_end = saturating_add(now, rules_.options.turn_time);
  add_holder(c, t);
  if (t.is_share && c.line_unseen) peek_line(c);
  t.deadline.store(std::min(c.deadline, t.own_limit()), std::memory_order_relaxed);
  t.is_admitting.store(t.is_share && is_admitting(c), std::memory_order_release);
  if (c.turns < std::numeric_limits<std::uint16_t>::max()) ++c.turns;
  plan_renewal(c);
  w.granted = &t;
  answer(w);
  return true;
}

turn& cohort::new_turn() {
  if (!spare_turn_) return *new turn(first_record_.home);
  spare_turn_->start_anew();
  return *spare_turn_.release();
}

void cohort::add_holder(claim_record& c, turn& t) {
  if (turn* const other = std::exchange(c.inside_first, &t)) {
    t.more().after = other;
    other->more().before = &t;
  }
  c.mode_inside = t.is_share ? lock_mode::shared : c.mode;
}

void cohort::remove_holder(claim_record& c, turn& t) noexcept {
  turn* const before = t.is_plain() ? nullptr : t.more().before;
  turn* const after = t.next_inside();
  (before ? before->more().after : c.inside_first) = after;
  if (after) after->more().before = before;
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
    notices_of_now().fates.push_back(why);
  }
  if (!t.doubted) doubt(t);
  if (planted(mutant::loss_not_told)) return;
  request_notice(t.loss);
  answer_watches(t, {});
}

cohort::notices& cohort::notices_of_now() {
  if (!notices_) notices_ = std::make_unique<notices>();
  return *notices_;
}

void cohort::request_notice(std::stop_source& source) {
  if (!source.stop_possible()) return;
  notices_of_now().sources.push_back(source);
}

// Requests a grant for the first waiter, unless a grant that is held prevents it.
claim_record* cohort::request_next() {
  if (held_ && first_->request.mode != lock_mode::permit) return nullptr;
  for (const claim_record* c = held_; c; c = c->next)
    if (c->waits_for_renewal) return nullptr;  // it will serve the first waiter
  claim_record& c = idle_record();
  c.pending_verbs = 0;  // a stale cancel, overtaken by the answer, would withdraw the new claim
  c.now = claim_record::state::asking;
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
  if (!planted(mutant::released_renewal_unanswered))
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

}  // namespace holdfast::core
