#include "cohort/held_grant.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/mutant.hpp"
#include "cohort/cohort_effects.hpp"
#include "cohort/lock_rules.hpp"
#include "cohort/waiter.hpp"

namespace holdfast::cohort {

using detail::turn;

void held_grant::prepare(const acquire_request& r) noexcept {
  mode_ = r.mode;
  permits_ = r.permits;
  ttl_ = r.ttl;
  has_note_ = !r.note.empty();
}

void held_grant::begin(const grant& g, const lock_rules& rules) noexcept {
  number_ = g.number;
  deadline_ = g.deadline;
  if (g.lease_term > duration::zero()) ttl_ = g.lease_term;
  turn_to(use::in_use);
  provisional_left_ = {};
  if (g.provisional)
    provisional_left_ = std::chrono::floor<short_time>(
        std::min<duration>((g.deadline - g.received_at) / 16 * 15, std::chrono::hours{1}));
  turns_ = token_turns_ = 0;
  is_contended_ = g.others_wait || rules.can.contention == contention_signal::silent;
  waiters_unknown_ = g.waiters_unknown;
  awaits_renewal_ = is_doubtful_ = is_revoked_ = was_renewed_ = false;
}

void held_grant::turn_to(use next, time_point end) noexcept {
  use_ = next;
  end_of_use_ = end;
  next_request_ = never;
}

bool held_grant::has_room_for(const acquire_request& r) const noexcept {
  if (is_lost() || awaits_renewal_) return false;
  if (r.mode == lock_mode::permit)
    return mode_ == lock_mode::permit && turns_ == 0 && permits_ == r.permits;
  if (has_turns()) return r.mode == lock_mode::shared && mode_inside_ == lock_mode::shared;
  if (mode_ == lock_mode::permit) return false;
  if (mode_ == lock_mode::shared) return r.mode == lock_mode::shared;
  return token_turns_ < turns_per_grant || planted(mutant::turn_past_1023);
}

// Readers join readers until another client waits: at once where the store pushes that, else when
// the budget is spent. Otherwise a stream of readers would starve a writer.
bool held_grant::is_admission_closed(time_point now, const lock_rules& rules) const noexcept {
  if (!is_contended_) return false;
  return rules.can.contention == contention_signal::push || is_budget_spent(now, rules);
}

bool held_grant::is_budget_spent(time_point now, const lock_rules& rules) const noexcept {
  if (is_revoked_ || turns_ >= rules.turns()) return true;
  return end_of_use_ <= now;
}

bool held_grant::is_spent(time_point now, const lock_rules& rules) const noexcept {
  if (has_expired(now)) return true;
  if (mode_ == lock_mode::shared && is_admission_closed(now, rules)) return true;
  return is_contended_ && is_budget_spent(now, rules) && !planted(mutant::wanted_ignored);
}

// The first turn under a provisional grant starts at once.
bool held_grant::needs_renewal_for(duration ttl, time_point now,
                                   const lock_rules& rules) const noexcept {
  if (!has_deadline() || !rules.can.core_renews() || deadline_ - now >= ttl / 2) return false;
  const bool opens_provisional = is_provisional() && (turns_ == 0 || has_turns());
  return !opens_provisional && !planted(mutant::turn_on_short_lease);
}

bool held_grant::may_linger(time_point now) const noexcept {
  if (is_lost() || mode_ == lock_mode::permit) return false;
  if (is_contended_ && !planted(mutant::linger_kept)) return false;
  return linger_end() > now;
}

void held_grant::start(turn& t, const waiter& w, bool is_queue_empty, time_point now,
                       cohort_effects& effects) {
  const lock_rules& rules = effects.rules();
  t.is_share = w.request.mode == lock_mode::shared;
  if (!has_turns() && (mode_ != lock_mode::shared || token_turns_ == 0)) ++token_turns_;
  const std::int64_t turn_number = planted(mutant::turn_not_counted) ? 0 : token_turns_ - 1;
  t.token = rules.can.tokens ? number_ * turns_per_grant + turn_number : 0;
  t.ttl = rules.can.core_renews() || !has_deadline() ? duration(w.request.ttl) : ttl_;
  t.renews = w.renews;
  if (permits_ != 1) t.extras().permits = permits_;
  if (w.max_hold != duration::max()) t.extras().hold_end = saturating_add(now, w.max_hold);
  if (t.is_share && !t.renews && rules.can.core_renews())
    t.extras().own_end = now + worth(t.ttl, rules.options.clock_skew);
  if (has_turns() && end_of_use_ == never)
    end_of_use_ = saturating_add(now, rules.options.turn_time);
  add(t);
  t.deadline.store(std::min(deadline_, t.own_limit()), std::memory_order_relaxed);
  const bool admits = t.is_share && admits_readers(is_queue_empty, rules);
  t.is_admitting.store(admits, std::memory_order_release);
  if (turns_ < std::numeric_limits<std::uint16_t>::max()) ++turns_;
  plan_renewal(rules);
  if (rules.recording) effects.record_grant(t, w, now);
  if (is_doubtful_) effects.doubt(t);
}

void held_grant::add(turn& t) {
  if (turn* const other = std::exchange(first_turn_, &t)) {
    t.extras().after = other;
    other->extras().before = &t;
  }
  mode_inside_ = t.is_share ? lock_mode::shared : mode_;
}

void held_grant::remove(turn& t) noexcept {
  turn* const before = t.has_extras() ? t.extras().before : nullptr;
  turn* const after = t.next_inside();
  (before ? before->extras().after : first_turn_) = after;
  if (after) after->extras().before = before;
}

void held_grant::forget_turns() noexcept {
  for (turn* t = std::exchange(first_turn_, nullptr); t; t = t->next_inside()) t->of = nullptr;
}

void held_grant::start_budget(time_point now, const lock_rules& rules) noexcept {
  if (use_ == use::in_use) end_of_use_ = saturating_add(now, rules.options.turn_time);
}

// Whether readers may join through common_share, without the cohort: no caller is queued, and no
// other client waits at a store that would report it. With metrics each turn is counted, so none
// joins there.
bool held_grant::admits_readers(bool is_queue_empty, const lock_rules& rules) const noexcept {
  return rules.can.contention == contention_signal::push && !is_contended_ && is_queue_empty &&
         !rules.counts;
}

void held_grant::close_admission() noexcept {
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (!planted(mutant::door_left_open)) t->is_admitting.store(false, std::memory_order_release);
}

duration held_grant::extend(turn& t, duration ttl, time_point now, const lock_rules& rules) {
  if (ttl > t.ttl) t.extras().confirmed_ttl = t.confirmed_ttl();
  t.ttl = ttl;
  if (!t.is_share) return ttl;
  if (!t.renews) t.extras().own_end = now + worth(ttl, rules.options.clock_skew);
  return ttl_needed(now);
}

// Readers of other processes carry the grant's first token. When the grant has had several turns,
// that one is older than this turn's token, and a guard would refuse the other readers. Then the
// grant stays exclusive in the store until this client's readers have left.
bool held_grant::downgrade(turn& t, time_point now, const lock_rules& rules) {
  t.is_share = true;
  mode_inside_ = lock_mode::shared;
  if (!t.renews && rules.can.core_renews())
    t.extras().own_end = is_provisional() ? now + worth(t.ttl, rules.options.clock_skew)
                                          : t.deadline.load(std::memory_order_relaxed);
  if (!rules.can.downgrade || token_turns_ != 1) return false;
  mode_ = lock_mode::shared;
  return true;
}

// Readers share the deadline of the grant.
void held_grant::record_confirmation(time_point now, cohort_effects& effects) const {
  if (first_turn_) effects.record_confirmation(*first_turn_, now);
}

void held_grant::linger(time_point now, const lock_rules& rules) noexcept {
  turn_to(use::lingering, saturating_add(now, rules.options.linger));
  if (rules.can.contention == contention_signal::poll) poll_again(now);
}

void held_grant::poll_again(time_point now) noexcept { next_request_ = now + polled_every; }

// A lingering grant is released shortly before it would expire.
time_point held_grant::linger_end() const noexcept {
  const time_point end = lingers() ? end_of_use_ : never;
  return has_deadline() ? std::min(end, deadline_ - ttl_ / 8) : end;
}

// An unasked deadline is the session's or the connection's: an earlier one confirms nothing.
void held_grant::confirm(time_point deadline, std::uint32_t ticket) noexcept {
  if (ticket == 0) {
    if (deadline >= deadline_) end_doubt();
    if (!planted(mutant::unasked_extension_ignored)) deadline_ = deadline;
  } else {
    provisional_left_ = {};
    was_renewed_ = true;
    deadline_ = ticket < shortening_ticket_ ? std::min(deadline, deadline_) : deadline;
    if (ticket == ticket_) end_extensions();
    end_doubt();
  }
  publish();
}

// The last renewal is confirmed, and with it the ttl of each extension before it.
void held_grant::end_extensions() noexcept {
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->has_extras()) t->extras().confirmed_ttl = {};
}

// A turn whose own limit is near stays in doubt: no renewal moves that limit.
void held_grant::end_doubt() noexcept {
  is_doubtful_ = false;
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->is_marked_held() && t->fate_at_deadline() != turn::fate::hold_ended) t->doubted = false;
}

void held_grant::doubt(cohort_effects& effects) {
  is_doubtful_ = true;
  for (turn* t = first_turn_; t; t = t->next_inside()) {
    if (t->doubted) continue;  // also what is lost
    effects.doubt(*t);
    effects.report_doubt(turn::fate::ran_out);
  }
}

void held_grant::revoke(cohort_effects& effects) {
  is_revoked_ = true;
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->is_marked_held()) effects.request_revocation(*t);
}

void held_grant::lose(turn::fate why, cohort_effects& effects) {
  turn_to(use::lost);
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->is_marked_held())
      effects.lose(*t, why == turn::fate::ran_out ? t->fate_at_deadline() : why);
}

held_grant::due held_grant::tick(time_point now, cohort_effects& effects) {
  if (is_lost()) return due::nothing;
  if (lingers()) return linger_end() <= now ? due::release : due::nothing;
  if (has_expired(now))
    return has_turns() && !planted(mutant::loss_releases_early) ? due::loss : due::release;
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->is_marked_held() && tick(*t, now, effects)) return due::loss;
  return next_request_ <= now ? due::renewal : due::nothing;
}

bool held_grant::tick(turn& t, time_point now, cohort_effects& effects) {
  const time_point end = t.deadline.load(std::memory_order_relaxed);
  if (end == never) return false;
  if (end <= now) {
    if (!t.is_share) return true;
    effects.lose(t, t.fate_at_deadline());
    plan_renewal(effects.rules());
    return false;
  }
  if (t.doubted || !is_notice_due(t, now, effects.rules())) return false;
  effects.doubt(t);
  effects.report_doubt(t.fate_at_deadline());
  return false;
}

time_point held_grant::next_tick(const lock_rules& rules) const noexcept {
  if (is_lost()) return never;
  if (lingers()) return std::min(linger_end(), next_request_);
  time_point next = std::min(next_request_, deadline_);
  for (const turn* t = first_turn_; t; t = t->next_inside()) {
    const time_point end = t->deadline.load(std::memory_order_relaxed);
    if (end == never || !t->is_marked_held()) continue;
    next = std::min(next, t->doubted ? end : end - notice(*t, rules));
  }
  return next;
}

bool held_grant::is_notice_due(const turn& t, time_point now,
                               const lock_rules& rules) const noexcept {
  const time_point end = t.deadline.load(std::memory_order_relaxed);
  return end != never && end - notice(t, rules) <= now;
}

// The time before its deadline at which a holder is notified that it may lose the lock.
duration held_grant::notice(const turn& t, const lock_rules& rules) const noexcept {
  if (is_provisional()) return provisional_left_ / 2;
  const duration ttl = t.confirmed_ttl();
  return std::min(rules.options.grace + ttl / 10, ttl / 2);
}

bool held_grant::end_await() noexcept {
  const bool awaited = awaits_renewal_;
  awaits_renewal_ = false;
  return awaited;
}

void held_grant::renew_at(time_point at) noexcept {
  if (use_ == use::in_use) next_request_ = at;
}

// Renews before a third of the ttl has passed, counted from the send that the deadline is counted
// from. A provisional grant is renewed early in its window, but not at once: a holder that releases
// within a sixteenth of the window saves the server the renewal.
void held_grant::plan_renewal(const lock_rules& rules) noexcept { renew_at(renewal_due(rules)); }

// A holder without a note is stored at its first renewal, after this time: one that releases before
// costs no request. A holder with a note is stored at once.
constexpr duration stored_after = std::chrono::seconds{1};

time_point held_grant::renewal_due(const lock_rules& rules) const noexcept {
  if (is_provisional()) return deadline_ - provisional_left_;
  const bool by_core =
      rules.can.core_renews() || (planted(mutant::session_renewed_by_core) && has_deadline());
  const turn* t = by_core ? first_turn_ : nullptr;
  while (t && !(t->renews && t->is_marked_held())) t = t->next_inside();
  if (!t) return never;
  duration left = planted(mutant::renewal_starts_late) ? ttl_ / 10 : ttl_ * 7 / 10;
  if (rules.can.shown_by_renewal && !was_renewed_)
    left = std::max(left, has_note_ ? ttl_ : ttl_ - stored_after);
  return aligned(deadline_ - left, rules);
}

// At most a sixty-fourth of the ttl earlier: renewals of one client share a wake-up and a write,
// and those of two clients do not coincide.
time_point held_grant::aligned(time_point t, const lock_rules& rules) const noexcept {
  const duration step = ttl_ / 64;
  return t - (t.time_since_epoch() + duration(rules.phase)) % step;
}

duration held_grant::ttl_needed(time_point now) const noexcept {
  duration longest{};
  for (const turn* t = first_turn_; t; t = t->next_inside()) {
    if (!t->is_marked_held()) continue;
    const bool is_limited = t->is_share && !t->renews;
    longest = std::max(longest, is_limited ? std::chrono::ceil<std::chrono::milliseconds>(
                                                 (t->own_limit() - now) * 102 / 100 + margin)
                                           : t->ttl);
  }
  return longest > duration::zero() ? longest : ttl_;
}

// Plans the next renewal well within the rest of the ttl, for the case that no reply comes. A
// provisional grant has only its short window: there the renewal is repeated soon, and even for a
// holder that renews by hand. Otherwise one lost reply would lose a lock that the store has
// granted.
void held_grant::renew(duration ttl, time_point now, const lock_rules& rules) {
  ttl_ = ttl;
  ++ticket_;
  shorten(now + worth(ttl, rules.options.clock_skew));
  renew_at(never);
  const bool repeats = !planted(mutant::renewal_not_repeated);
  if (repeats && is_provisional() && !planted(mutant::window_renewed_once))
    return renew_at(now + jittered(*rules.env, duration(provisional_left_) / 4, 0.2));
  bool again = awaits_renewal_;
  for (const turn* t = first_turn_; t && !again; t = t->next_inside()) again = t->renews;
  if (repeats && again) renew_at(aligned(now + jittered(*rules.env, ttl / 10, 0.2), rules));
}

void held_grant::repeat_for_caller(time_point now, const lock_rules& rules) {
  const duration pause = std::min(ttl_ / 10, duration(rules.options.op_timeout) / 4);
  if (!planted(mutant::extension_not_repeated))
    renew_at(std::min(next_request_, now + jittered(*rules.env, pause, 0.2)));
}

// An extension that ends earlier than the lease did counts at once, whether or not its reply
// arrives: a store may have shortened the lease, although most keep the later end.
void held_grant::shorten(time_point end) noexcept {
  if (end >= deadline_) return;
  deadline_ = end;
  shortening_ticket_ = ticket_;
  publish();
}

void held_grant::publish() noexcept {
  for (turn* t = first_turn_; t; t = t->next_inside())
    if (t->is_marked_held() || planted(mutant::renewal_revives_lost))
      t->deadline.store(std::min(deadline_, t->own_limit()), std::memory_order_release);
}

}  // namespace holdfast::cohort
