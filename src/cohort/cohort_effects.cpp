#include "cohort/cohort_effects.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::cohort {

using ending = recorded_event::ending;
using kind = recorded_event::kind;
using detail::turn;

namespace {

std::int64_t nanoseconds(time_point t) noexcept { return t.time_since_epoch().count(); }

constexpr unsigned number_of(lock_mode mode) noexcept { return static_cast<unsigned>(mode); }

// How much later than planned a timer runs without being recorded as late.
constexpr duration usual_lateness = std::chrono::milliseconds{500};

}  // namespace

void cohort_effects::schedule(claim_record& c, claim_record::verb v) noexcept {
  c.pending_verbs = static_cast<unsigned char>(c.pending_verbs | v);
  if (c.is_scheduled) return;
  c.is_scheduled = true;
  scheduled_.push(c);
}

claim_record* cohort_effects::take_scheduled() noexcept {
  claim_record* const c = scheduled_.pop();
  if (c) c->is_scheduled = false;
  return c;
}

void cohort_effects::answer(completion& c) noexcept { answered_.push(c); }

void cohort_effects::answer(completion& c, failure why) {
  c.why = std::move(why);
  answer(c);
}

void cohort_effects::answer(waiter& w, failure why) {
  if (rules_.counts) rules_.counts->failed(why.code);
  if (w.recorded_for) record_refusal(w, why.code);
  answer(static_cast<completion&>(w), std::move(why));
}

void cohort_effects::answer(confirmation& c, failure why) {
  if (rules_.counts && why.code) rules_.counts->failed(why.code);
  answer(static_cast<completion&>(c), std::move(why));
}

void cohort_effects::watch(turn& t, loss_watch& w) {
  const std::error_code status = t.status();
  if (status) return answer(w, {status == outcome::lost ? std::error_code() : status, {}});
  w.on = &t;
  w.after = std::exchange(t.extras().watches, &w);
}

void cohort_effects::end_watch(loss_watch& w) {
  if (!w.on) return;
  loss_watch** at = &w.on->extras().watches;
  while (*at != &w) at = &(*at)->after;
  *at = w.after;
  w.on = nullptr;
  answer(w, {errc::canceled, {}});
}

void cohort_effects::answer_watches(turn& t, errc code) {
  if (!t.has_extras()) return;
  const std::error_code outcome = code == errc{} ? std::error_code() : make_error_code(code);
  for (loss_watch* w = std::exchange(t.extras().watches, nullptr); w;) {
    loss_watch* const after = w->after;
    w->on = nullptr;
    answer(*w, {outcome, {}});
    w = after;
  }
}

void cohort_effects::doubt(turn& t) {
  t.doubted = true;
  count(counters::doubts);
  record_doubt(t);
  if (!planted(mutant::doubt_not_told)) request(t, &turn::extra_fields::doubt);
}

void cohort_effects::report_doubt(turn::fate how_it_may_end) {
  notices_of_now().doubts.push_back(how_it_may_end);
}

void cohort_effects::lose(turn& t, turn::fate why) {
  if (rules_.recording) record_end(t, ending_of(why), {});
  t.now.store(why, std::memory_order_release);
  t.is_admitting.store(false, std::memory_order_release);
  if (turn::is_loss(why)) {
    count(counters::losses);
    notices_of_now().losses.push_back(why);
  }
  if (!t.doubted) doubt(t);
  if (!planted(mutant::loss_not_told)) request(t, &turn::extra_fields::loss);
  answer_watches(t, {});
}

void cohort_effects::request_revocation(turn& t) { request(t, &turn::extra_fields::revocation); }

cohort_effects::notices& cohort_effects::notices_of_now() {
  if (!notices_) notices_ = std::make_unique<notices>();
  return *notices_;
}

void cohort_effects::request(turn& t, std::stop_source turn::extra_fields::*of_event) {
  if (!t.has_extras()) return;
  const std::stop_source& source = t.extras().*of_event;
  if (source.stop_possible()) notices_of_now().sources.push_back(source);
}

void cohort_effects::count(counters::counter which) const noexcept {
  if (rules_.counts) rules_.counts->count(which);
}

void cohort_effects::count_turn(turn& t, const waiter& w, bool joins_others, time_point now) const {
  if (!rules_.counts) return;
  rules_.counts->waited(w.request.mode, w.asked == time_point{} ? duration::zero() : now - w.asked);
  if (joins_others) rules_.counts->count(counters::shares_joined);
  turn::extra_fields& extras = t.extras();
  extras.began = now;
  extras.mode = w.request.mode;
}

// A lease that expired before its holder left counts as lost, even if tick() had not run yet.
void cohort_effects::end_hold(turn& t, time_point now) {
  if (rules_.recording && t.is_marked_held()) record_end(t, recorded_event::ending::released, now);
  if (!rules_.counts) return;
  rules_.counts->held(t.extras().mode, now - t.extras().began);
  if (!t.is_marked_held() || t.deadline.load(std::memory_order_relaxed) > now) return;
  rules_.counts->count(counters::losses);
  if (!t.doubted) rules_.counts->count(counters::doubts);
}

// A renewal that was not planned, or was requested early, counts as a confirmation only, without a
// lag.
void cohort_effects::count_renewal(time_point due, time_point now) const {
  rules_.counts->count(counters::renewals_confirmed);
  if (due <= now) rules_.counts->lagged(now - due);
}

// The events of its lock that a cohort records (base/recording.hpp). Each function is called with
// the local lock's mutex held. A grant is recorded after the store's answer, and the end of a turn
// before its release is sent: between the two records the holder really had the lock.

ending cohort_effects::ending_of(turn::fate fate) noexcept {
  switch (fate) {
    case turn::fate::ran_out: return ending::ran_out;
    case turn::fate::hold_ended: return ending::hold_ended;
    case turn::fate::taken: return ending::taken;
    case turn::fate::forgotten: return ending::forgotten;
    case turn::fate::closed: return ending::closed;
    case turn::fate::held: break;
  }
  return ending::released;
}

recorded_event cohort_effects::event_at(const detail::local_lock& home, time_point now) {
  recording& to = *rules_.recording;
  const std::uint64_t name =
      to.position_of(recorded_name_ * std::uint64_t{8}, home.name(),
                     {.total_permits = home.permits(), .lock_store = rules_.store_number});
  recorded_name_ = static_cast<std::uint32_t>(name / 8);
  return {.time = nanoseconds(to.time_of(*rules_.env, now)), .name = name};
}

// Rounded up: an overlap that did not exist must not be found. One exclusive turn is held at a
// time; of other turns it is not known which grant was theirs.
std::int64_t cohort_effects::last_grant(const turn& t, std::int64_t now) const {
  if (t.is_share || t.home.permits() > 0 || recorded_grant_ == 0) return 0;
  return std::min(now, rules_.recording->began() + recorded_grant_ * std::int64_t{1'000'000});
}

void cohort_effects::note_grant(std::int64_t time) noexcept {
  recorded_grant_ = static_cast<std::uint32_t>((time - rules_.recording->began()) / 1'000'000 + 1);
}

recorded_event cohort_effects::event_of(kind k, unsigned reason, const turn& t, time_point now) {
  recorded_event e = event_at(t.home, now);
  e.since = last_grant(t, e.time);
  e.deadline = nanoseconds(t.deadline.load(std::memory_order_relaxed));
  e.token = t.token;
  const bool is_of_permits = t.home.permits() > 0;
  const lock_mode mode = is_of_permits ? lock_mode::permit
                         : t.is_share  ? lock_mode::shared
                                       : lock_mode::exclusive;
  e.details = recorded_event::pack(k, number_of(mode), reason, is_of_permits ? t.permits() : 0);
  return e;
}

void cohort_effects::record_wait(detail::local_lock& home, waiter& w, time_point now) {
  if (!rules_.recording) return;
  recorded_event e = event_at(home, now);
  w.recorded = time_point(duration(e.time));
  e.details = recorded_event::pack(kind::asked, number_of(w.request.mode), 0, w.request.permits);
  rules_.recording->append(e);
}

void cohort_effects::record_grant(turn& t, const waiter& w, time_point now) {
  recorded_event e = event_of(kind::granted, 0, t, now);
  e.since = nanoseconds(w.recorded);
  note_grant(e.time);
  rules_.recording->append(e);
}

// A lease that expired before its holder left counts as lost, even if tick() had not run yet.
void cohort_effects::record_end(const turn& t, ending reason, time_point now) {
  recorded_event e = event_of(kind::ended, static_cast<unsigned>(reason), t, now);
  if (reason == ending::released && e.deadline <= e.time)
    e.details |=
        recorded_event::pack({}, 0, static_cast<unsigned>(ending_of(t.fate_at_deadline())), 0);
  rules_.recording->append(e);
}

// The exclusive turn ends and a shared one begins.
void cohort_effects::record_downgrade(turn& t, time_point now) {
  if (!rules_.recording) return;
  const recorded_event e = event_of(kind::downgraded, 0, t, now);
  note_grant(e.time);
  rules_.recording->append(e);
}

// A program that polls a busy lock would fill the recording: one refusal each second is recorded,
// with the number of those left out.
void cohort_effects::record_refusal(const waiter& w, std::error_code why) {
  recording& to = *rules_.recording;
  recorded_event e = event_at(*w.recorded_for, {});
  const time_point now{duration(e.time)};
  if (w.recorded == time_point{} && !to.admits(now, to.next_refusal)) {
    to.refusals_left_out.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  e.since = nanoseconds(w.recorded);
  e.details = recorded_event::pack(kind::refused, number_of(w.request.mode),
                                   static_cast<unsigned>(why.value()),
                                   1 + to.refusals_left_out.exchange(0, std::memory_order_relaxed));
  to.append(e);
}

void cohort_effects::record_doubt(const turn& t) {
  if (rules_.recording) rules_.recording->append(event_of(kind::doubted, 0, t, {}));
}

void cohort_effects::record_confirmation(const turn& t, time_point now) {
  recording& to = *rules_.recording;
  if (to.admits(now, to.next_confirmation)) to.append(event_of(kind::confirmed, 0, t, now));
}

// A process that was stopped finds the timers of all its locks late: one is recorded.
void cohort_effects::record_lateness(detail::local_lock& home, time_point due, time_point now) {
  recording& to = *rules_.recording;
  if (due == never || now - due < usual_lateness) return;
  time_point known = to.end_of_lateness.load(std::memory_order_relaxed);
  if (due <= known || !to.end_of_lateness.compare_exchange_strong(known, now)) return;
  recorded_event e = event_at(home, now);
  e.since = nanoseconds(due);
  e.details = recorded_event::pack(kind::late, 0, 0, 0);
  to.append(e);
}

}  // namespace holdfast::cohort
