// What a cohort records of its lock (base/recording.hpp). Each function is called with the local
// lock's mutex held. A grant is recorded after the store's answer, and the end of a turn before its
// release is sent: between the two records the holder really had the lock.
#include <algorithm>

#include "cohort/cohort_effects.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::cohort {

using detail::turn;
using kind = recorded_event::kind;
using ending = recorded_event::ending;

namespace {

std::int64_t nanoseconds(time_point t) noexcept { return t.time_since_epoch().count(); }

constexpr unsigned number_of(lock_mode mode) noexcept { return static_cast<unsigned>(mode); }

// How much later than planned a timer runs without being recorded as late.
constexpr duration usual_lateness = std::chrono::milliseconds{500};

}  // namespace

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
  recorded_event e;
  e.time = nanoseconds(to.time_of(*rules_.env, now));
  e.name = name;
  return e;
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

recorded_event cohort_effects::event_of(kind what, unsigned reason, const turn& t, time_point now) {
  recorded_event e = event_at(t.home, now);
  e.since = last_grant(t, e.time);
  e.deadline = nanoseconds(t.deadline.load(std::memory_order_relaxed));
  e.token = t.token;
  const bool is_of_permits = t.home.permits() > 0;
  const lock_mode mode = is_of_permits ? lock_mode::permit
                         : t.is_share  ? lock_mode::shared
                                       : lock_mode::exclusive;
  e.details = recorded_event::pack(what, number_of(mode), reason, is_of_permits ? t.permits() : 0);
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
void cohort_effects::record_end(const turn& t, ending how, time_point now) {
  recorded_event e = event_of(kind::ended, static_cast<unsigned>(how), t, now);
  if (how == ending::released && e.deadline <= e.time)
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
