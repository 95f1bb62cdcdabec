#include "cohort/cohort.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::cohort {

using detail::turn;
using state = claim_record::state;

void cohort::enter(waiter& w, time_point now) {
  w.asked = now;
  if (rules().recording) w.recorded_for = &claims_.home();
  if (is_closed_) return effects_.answer(w, {errc::closed, "the client was closed"});
  if (w.until <= now) {  // as std::timed_mutex: one attempt is made even when the time is over
    w.request.one_attempt = true;
    w.until = never;
  }
  claim_record* const held = claims_.held();
  const bool is_first = waiters_.is_empty();
  const bool joins_now = joins(w, now);
  if (w.request.one_attempt && !joins_now && !is_free_for(w))
    return effects_.answer(w, unserved(errc::timed_out));
  if (!joins_now && is_first && held) held->grant.start_budget(now, rules());
  waiters_.push(w);
  if (!joins_now && (!w.thread || requesting_ || held))
    effects_.record_wait(claims_.home(), w, now);
  if (!joins_now && held) held->grant.close_admission();
  earliest_until_ = std::min(earliest_until_, w.until);
  if (w.until != never) plan_hurry(w, now);
  const bool lingers = held && held->grant.lingers();
  if (joins_now || lingers) {
    if (lingers) held->grant.resume();
    if (joins_now && !held->grant.has_turns()) effects_.count(counters::linger_reuses);
    return grant_turns(*held, now);
  }
  request_next(now);
}

// Whether the waiter gets a turn at once, under the grant that is held. A member of a lock group
// must always request itself: with a grant that another turn left behind, the store would not know
// of the group's request and could not grant the group in one step.
bool cohort::joins(const waiter& w, time_point now) const noexcept {
  if (!waiters_.is_empty() || !claims_.held() || w.request.group) return false;
  const held_grant& g = claims_.held()->grant;
  return g.has_room_for(w.request) && !g.has_expired(now) &&
         !(g.has_turns() && g.is_admission_closed(now, rules()));
}

// Whether no caller of this client is before it.
bool cohort::is_free_for(const waiter& w) const noexcept {
  if (w.request.group) return is_idle();
  if (!waiters_.is_empty() || (requesting_ && requesting_->now == state::requesting)) return false;
  const claim_record* const held = claims_.held();
  return !held || w.request.mode == lock_mode::permit || held->grant.lingers();
}

void cohort::withdraw(waiter& w, errc why, time_point now) {
  if (w.is_queued) end_wait(w, unserved(why), now);
}

void cohort::refuse_timed_waits(const failure& why, time_point now) {
  for (waiter* w = waiters_.first(); w;) {
    waiter* const after = w->after;
    if (w->until != never) end_wait(*w, why, now);
    w = after;
  }
}

void cohort::end_wait(waiter& w, failure why, time_point now) {
  const bool was_first = &w == waiters_.first();
  waiters_.remove(w);
  effects_.answer(w, std::move(why));
  const waiter* const next = waiters_.first();
  if (requesting_) {
    const held_grant& requested = requesting_->grant;
    const bool is_useless = !next || next->request.mode != requested.mode() ||
                            next->request.permits != requested.permits() ||
                            (requesting_->extra && requesting_->extra->group);
    if (was_first && (is_useless || planted(mutant::leaver_ends_the_wait))) stop_requesting();
    return;
  }
  claim_record* const held = claims_.held();
  if (!held || !was_first) return;
  if (!next) held->grant.end_await();
  grant_turns(*held, now);
}

// timed_out only where the lock is known to be busy, so that an outage is never reported as a held
// lock.
failure cohort::unserved(errc why) const {
  const claim_record* const held = claims_.held();
  const bool is_held_here = held && !held->grant.is_lost() && held->grant.has_turns();
  const bool may_be_busy = is_held_here || !connection_.is_unavailable();
  if (why != errc::timed_out || may_be_busy || planted(mutant::outage_told_as_busy))
    return {why, {}};
  failure outage = connection_.status().trouble;
  return outage.code ? outage : failure{why, {}};
}

void cohort::answer_waiters(const failure& why, bool only_one_attempt) {
  while (waiter* const w = waiters_.first()) {
    if (only_one_attempt && !w->request.one_attempt) return;
    waiters_.remove(*w);
    effects_.answer(*w, why);
  }
}

void cohort::await(confirmation& c, const claim_record& record, std::uint32_t ticket) noexcept {
  confirmations_.add(c, record, ticket);
  earliest_until_ = std::min(earliest_until_, c.until);
}

bool cohort::needs_clock(const turn& t) const noexcept {
  const bool polls = t.is_share && rules().can.contention == contention_signal::poll;
  return !waiters_.is_empty() || polls || rules().options.linger > duration::zero() ||
         rules().counts;
}

bool cohort::should_poll(const turn& t, time_point now) const noexcept {
  if (rules().can.contention != contention_signal::poll || !t.of || !claims_.is_held(*t.of))
    return false;
  return (!waiters_.is_empty() || t.is_share) && t.of->grant.is_budget_spent(now, rules());
}

void cohort::leave(turn& t, confirmation* report, time_point now) {
  claim_record* const of = t.of;
  if (of) of->grant.remove(t);
  effects_.end_hold(t, now);
  effects_.answer_watches(t, errc::not_held);
  spare_turn_.reset(&t);
  if (!of) {  // the client was closed: its claim has been released
    if (report) effects_.answer(*report, {errc::closed, "the client was closed"});
    return;
  }
  held_grant& g = of->grant;
  if (g.has_turns()) {  // other readers hold the grant
    if (report) effects_.answer(*report);
    return;
  }
  if (!claims_.is_held(*of)) {  // lost, and another turn was admitted since
    of->now = state::releasing;
    effects_.schedule(*of, claim_record::release);
    if (report) await(*report, *of, 0);
    return;
  }
  const waiter* const next = waiters_.first();
  if (next && g.has_room_for(next->request) && !g.is_spent(now, rules())) {
    if (g.are_waiters_unknown() && g.is_budget_spent(now, rules())) check_waiters(*of);
    effects_.count(counters::local_handoffs);
    if (report) effects_.answer(*report);
    return grant_turns(*of, now);
  }
  const bool may_linger = rules().options.linger > duration::zero() && !report;
  if (may_linger && !next && g.may_linger(now)) {
    if (g.are_waiters_unknown()) check_waiters(*of);
    return g.linger(now, rules());
  }
  if (report) await(*report, *of, 0);
  release_and_request(*of);
}

void cohort::extend(turn& t, duration ttl, confirmation& report, time_point now) {
  if (const auto code = t.status()) return effects_.answer(report, {code, {}});
  claim_record& c = *t.of;
  if (!rules().can.core_renews()) {
    if (rules().can.has_deadlines())
      return effects_
          .answer(report,
                  {errc::unsupported,
                   "its locks live as long as the client's session or connection, which the "
                   "client keeps alive by itself; do not extend them"});
    if (!rules().options.strict) return effects_.answer(report);  // it outlives any ttl
    return effects_.answer(report, {errc::unsupported,
                                    "its locks have no ttl to extend; leave out ?strict=1"});
  }
  renew(c, c.grant.extend(t, ttl, now, rules()), now);
  c.grant.publish();
  await(report, c, c.grant.ticket());
  c.grant.repeat_for_caller(now, rules());
}

failure cohort::downgrade(turn& t, time_point now) {
  if (const auto code = t.status()) return {code, {}};
  claim_record& c = *t.of;
  if (t.is_share || c.grant.mode() == lock_mode::permit)
    return {errc::mismatch, "the lease is not exclusive"};
  if (c.grant.downgrade(t, now, rules())) {
    effects_.schedule(c, claim_record::downgrade);
  } else if (c.grant.are_waiters_unknown()) {
    check_waiters(c);
  }
  effects_.record_downgrade(t, now);
  grant_turns(c, now);
  return {};
}

void cohort::close() {
  if (std::exchange(is_closed_, true)) return;
  answer_waiters({errc::closed, "the client was closed"}, false);
  if (requesting_) stop_requesting();
  while (claim_record* const c = claims_.held()) {
    lose(*c, turn::fate::closed);
    c->grant.forget_turns();
    release(*c);
  }
}

// Requests nothing where a claim is requesting already, or where a grant that is held will serve
// the first waiter.
bool cohort::request_next(time_point now) {
  waiter* const first = waiters_.first();
  if (!first || requesting_) return false;
  if (claims_.held() && first->request.mode != lock_mode::permit) return false;
  for (const claim_record* c = claims_.held(); c; c = c->next_held)
    if (c->grant.awaits_renewal()) return false;
  claim_record& c = claims_.idle_one();
  c.prepare(first->request);
  c.now = state::requesting;
  requesting_ = &c;
  first->request.at = now;
  effects_.schedule(c, claim_record::acquire);
  return true;
}

void cohort::stop_requesting() {
  if (requesting_->now != state::requesting) return;
  requesting_->now = state::withdrawing;
  effects_.schedule(*requesting_, claim_record::cancel);
}

void cohort::release(claim_record& c) {
  claims_.remove_held(c);
  if (!confirmations_.is_empty() && !planted(mutant::released_renewal_unanswered))
    confirmations_.answer_renewals(c, c.grant.ticket(), {errc::not_held, "the lease was released"},
                                   effects_);
  c.now = state::releasing;
  effects_.schedule(c, claim_record::release);
}

void cohort::release_and_request(claim_record& c) {
  release(c);
  // Waiters of a lock group that was granted but could not start their turns must not acquire
  // alone.
  while (waiters_.first() && waiters_.first()->request.group) {
    waiter& w = *waiters_.first();
    waiters_.remove(w);
    effects_.answer(w, {errc::timed_out, {}});
  }
  c.has_successor = request_next();
}

// Called before the grant is kept for further turns of this client: they may keep it until the
// store reports that another client waits.
void cohort::check_waiters(claim_record& c) noexcept {
  c.grant.set_waiters_known();
  if (!c.grant.is_contended() && !planted(mutant::taken_line_not_peeked))
    effects_.schedule(c, claim_record::check_waiters);
}

// Gives the waiters at the front that may hold the grant a turn; of readers all that were queued
// together, even when admission closes after them. With no turn inside, releases the grant.
void cohort::grant_turns(claim_record& c, time_point now, bool is_just_renewed) {
  const bool opens = !c.grant.has_turns();
  const auto is_open = [&] { return opens || !c.grant.is_admission_closed(now, rules()); };
  while (!waiters_.is_empty() && c.grant.has_room_for(waiters_.first()->request) && is_open() &&
         start_turn(c, now, is_just_renewed)) {}
  if (c.grant.awaits_renewal()) return;
  if (!c.grant.has_turns()) return release_and_request(c);
  // Admission closed while a renewal was awaited: one-attempt callers do not wait for a holder to
  // leave.
  if (!waiters_.is_empty() && c.grant.mode() != lock_mode::permit)
    answer_waiters({errc::timed_out, {}}, true);
}

// False: not before a renewal, or not at all.
bool cohort::start_turn(claim_record& c, time_point now, bool is_just_renewed) {
  waiter& w = planted(mutant::newcomer_first) ? *waiters_.last() : *waiters_.first();
  held_grant& g = c.grant;
  if (g.has_expired(now)) return false;
  if (!is_just_renewed && g.needs_renewal_for(w.request.ttl, now, rules())) {
    g.await_renewal();
    renew(c, std::max(duration(w.request.ttl), g.ttl_needed(now)), now);
    return false;
  }
  waiters_.remove(w);
  waiters_.prefetch_first();
  turn& t = new_turn();
  effects_.count_turn(t, w, g.has_turns(), now);
  t.of = &c;
  g.start(t, w, waiters_.is_empty(), now, effects_);
  if (t.is_share && g.are_waiters_unknown()) check_waiters(c);
  w.granted = &t;
  effects_.answer(w);
  return true;
}

turn& cohort::new_turn() {
  if (!spare_turn_) return *new turn(claims_.home());
  spare_turn_->reset();
  return *spare_turn_.release();
}

void cohort::renew(claim_record& c, duration ttl, time_point now) {
  c.grant.renew(ttl, now, rules());
  if (confirmations_.has_renewal_of(c)) c.grant.repeat_for_caller(now, rules());
  effects_.count(counters::renewals_sent);
  effects_.schedule(c, claim_record::renew);
}

// The grant is lost for all turns that hold it.
void cohort::lose(claim_record& c, turn::fate why) {
  c.grant.lose(why, effects_);
  confirmations_.answer_renewals(c, c.grant.ticket(), {errc::lost, {}}, effects_);
  // One-attempt callers do not wait for a holder to leave.
  answer_waiters({errc::timed_out, {}}, true);
  const bool admits = rules().options.admit_after_loss || planted(mutant::turn_before_release);
  if (!turn::is_loss(why) || !admits) return;
  claims_.remove_held(c);
  request_next();
}

void cohort::on_granted(claim_record& c, const grant& g) {
  if (&c != requesting_) return;
  requesting_ = nullptr;
  claims_.add_held(c);
  effects_.count(counters::grants);
  if (g.provisional) effects_.count(counters::grants_handed);
  c.now = state::held;
  c.grant.begin(g, rules());
  if (waiters_.has_several()) c.grant.start_budget(g.received_at, rules());
  if (c.grant.has_expired(g.received_at)) {  // the reply came too late to use: release it
    answer_waiters({errc::unavailable, rules().can.core_renews()
                                           ? "the answer took longer than the ttl; raise the ttl"
                                           : "the answer came after the end of the session"},
                   true);
    return release_and_request(c);
  }
  grant_turns(c, g.received_at);
  request_next();
}

bool cohort::clock_matters() const noexcept {
  const waiter* const first = waiters_.first();
  return first && (rules().counts || waiters_.has_several() || first->max_hold != duration::max());
}

void cohort::on_refused(claim_record& c, const failure& why) {
  if (&c != requesting_) return;
  requesting_ = nullptr;
  c.now = state::idle;
  const bool is_out = why.code == errc::unavailable || why.code == errc::no_quorum;
  const bool is_of_attempts = why.code == errc::timed_out || (is_out && c.one_attempt);
  answer_waiters(why, is_of_attempts);
  request_next();
}

void cohort::on_extended(claim_record& c, time_point deadline, std::uint32_t ticket,
                         time_point now) {
  if (!claims_.is_held(c)) return;
  const bool is_unasked = ticket == 0;
  tick(c, now);  // what has expired by now stays lost
  if (!claims_.is_held(c)) return;
  if (c.grant.is_lost() && !planted(mutant::renewal_revives_lost)) return;
  if (!is_unasked) {
    if (rules().counts) {
      const time_point due = c.grant.is_shortened_by(ticket) ? never : c.grant.renewal_due(rules());
      effects_.count_renewal(due, now);
    }
    confirmations_.answer_renewals(c, ticket, {}, effects_);
  }
  c.grant.confirm(deadline, ticket);
  c.grant.plan_renewal(rules());
  if (rules().recording) c.grant.record_confirmation(now, effects_);
  if (!c.grant.end_await()) return;
  grant_turns(c, now, true);
  request_next();
}

void cohort::on_doubtful(claim_record& c, time_point now) {
  if (!claims_.is_held(c) || planted(mutant::doubt_ignored)) return;
  tick(c, now);  // what has expired by now is lost, not doubtful
  c.grant.doubt(effects_);
}

void cohort::on_lost(claim_record& c, std::error_code why) {
  if (!claims_.is_held(c)) return;
  if (!c.grant.has_turns()) return release_and_request(c);
  if (c.grant.is_lost()) return;
  using fate = turn::fate;
  lose(c, why == errc::not_held    ? fate::forgotten
          : why == errc::timed_out ? fate::ran_out
                                   : fate::taken);
}

void cohort::on_contended(claim_record& c) {
  if (!claims_.is_held(c)) return;
  c.grant.set_contended(true);
  c.grant.close_admission();
  if (c.grant.lingers() && !planted(mutant::linger_kept)) release_and_request(c);
}

// The requester may not be queued at the store: the grant ends after the turns inside all the same.
void cohort::on_revocation_requested(claim_record& c) {
  if (!claims_.is_held(c) || planted(mutant::revocation_ignored)) return;
  c.grant.revoke(effects_);
  on_contended(c);
}

claim_record* cohort::lingering_unseen() const noexcept {
  claim_record* const held = claims_.held();
  const bool is_unseen =
      rules().can.contention == contention_signal::poll && held && held->grant.lingers();
  return is_unseen ? held : nullptr;
}

void cohort::polled(claim_record& c, bool others_wait, time_point now) {
  if (!claims_.is_held(c)) return;
  c.grant.set_contended(others_wait);
  if (!c.grant.lingers()) return;
  c.grant.poll_again(now);
  if (others_wait && !planted(mutant::linger_kept)) release_and_request(c);
}

void cohort::on_ended(claim_record& c, const failure& why) {
  if (c.now != state::withdrawing && c.now != state::releasing) return;
  if (&c == requesting_) requesting_ = nullptr;
  const bool was_awaited =
      !confirmations_.is_empty() && confirmations_.answer_releases(c, why, effects_);
  if (rules().counts && why.code && !was_awaited) rules().counts->failed(why.code);
  c.now = state::idle;
  if (!planted(mutant::leaver_ends_the_wait)) request_next();
}

void cohort::tick(time_point now) {
  if (rules().recording) effects_.record_lateness(claims_.home(), next_tick(), now);
  for (claim_record* c = claims_.held(); c;) {
    claim_record* const after = c->next_held;
    tick(*c, now);
    c = after;
  }
  if (hurry_at_ <= now) retry_now(now);
  if (earliest_until_ > now) return;
  earliest_until_ = never;
  for (waiter* w = waiters_.first(); w;) {
    waiter* const after = w->after;
    if (w->until <= now) {
      withdraw(*w, errc::timed_out, now);
    } else {
      earliest_until_ = std::min(earliest_until_, w->until);
    }
    w = after;
  }
  confirmations_.answer_overdue(now, effects_);
  earliest_until_ = std::min(earliest_until_, confirmations_.earliest_bound());
}

void cohort::tick(claim_record& c, time_point now) {
  switch (c.grant.tick(now, effects_)) {
    case held_grant::due::nothing: return;
    case held_grant::due::release: return release_and_request(c);
    case held_grant::due::loss: return lose(c, turn::fate::ran_out);
    case held_grant::due::renewal: break;
  }
  const waiter* const first = waiters_.first();
  const duration awaited =
      c.grant.awaits_renewal() && first ? duration(first->request.ttl) : duration::zero();
  renew(c, std::max(awaited, c.grant.ttl_needed(now)), now);
}

// Leaves the store time to connect and to answer. A wait that is shorter than that is urgent from
// the start and plans nothing.
void cohort::plan_hurry(const waiter& w, time_point now) noexcept {
  const time_point at = w.until - rules().options.op_timeout / 8;
  if (at > now) hurry_at_ = std::min(hurry_at_, at);
}

void cohort::retry_now(time_point now) {
  hurry_at_ = never;
  for (const waiter* w = waiters_.first(); w; w = w->after)
    if (w->until != never) plan_hurry(*w, now);
  if (requesting_) connection_.retry_now();
}

time_point cohort::next_tick() const noexcept {
  time_point next = std::min(earliest_until_, hurry_at_);
  for (const claim_record* c = claims_.held(); c; c = c->next_held)
    next = std::min(next, c->grant.next_tick(rules()));
  return next;
}

}  // namespace holdfast::cohort
