#include "cohort/cohort_effects.hpp"

#include <utility>

#include "base/mutant.hpp"

namespace holdfast::cohort {

using detail::turn;

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
  const std::error_code how = code == errc{} ? std::error_code() : make_error_code(code);
  for (loss_watch* w = std::exchange(t.extras().watches, nullptr); w;) {
    loss_watch* const after = w->after;
    w->on = nullptr;
    answer(*w, {how, {}});
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

}  // namespace holdfast::cohort
