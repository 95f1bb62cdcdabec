#include "core/cohort.hpp"

#include <algorithm>
#include <utility>

#include "core/mutant.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::enter(waiter& w, time_point now) {
  if (closed_) return answer(w, {errc::closed, "the client was closed"});
  if (w.until <= now) {  // as std::timed_mutex: however little time there is, one attempt is made
    w.how.one_attempt = true;
    w.until = never;
  }
  const bool withdraws = live_ && live_->now == conversation::state::withdrawing;
  if (w.how.one_attempt && ((live_ && !withdraws) || current_ || first_))
    return answer(w, {errc::timed_out, {}});
  if (!first_ && current_) turns_end_ = saturating_add(now, rules_.options.turn_time);
  push(w);
  earliest_until_ = std::min(earliest_until_, w.until);
  ask_if_wanted();
}

void cohort::withdraw(waiter& w, errc why) {
  if (!w.in_line) return;
  unlink(w);
  answer(w, {why, {}});
  if (first_ && !planted(mutant::leaver_ends_the_wait)) return;
  if (live_ && live_->now == conversation::state::asking) {
    live_->now = conversation::state::withdrawing;
    say(*live_, conversation::cancel);
  } else if (turn_waits_for_renewal_) {
    release_live();
  }
}

bool cohort::budget_is_spent(time_point now) const noexcept {
  return first_ && (turns_ >= rules_.options.turns || now >= turns_end_);
}

bool cohort::grant_is_spent(time_point now, bool others_wait) const noexcept {
  if (turns_ >= turns_per_grant && !planted(mutant::turn_past_1023)) return true;
  return others_wait && budget_is_spent(now) && !planted(mutant::wanted_ignored);
}

void cohort::leave(turn& t, bool others_wait, inquiry* report, time_point now) {
  const bool of_live = is_live(t);
  if (&t == current_) current_ = nullptr;
  const std::error_code lost = first_ ? t.status() : std::error_code{};
  conversation* const of = t.of;
  spare_turn_.reset(&t);
  if (!of) {  // the client was closed: its claim has been given back
    if (report) answer(*report, {errc::closed, "the client was closed"});
    return;
  }
  if (!of_live) {  // lost, and others were admitted since
    of->now = conversation::state::releasing;
    say(*of, conversation::release);
    if (report) await(*report, *of, 0);
    return;
  }
  if (!first_ || lost || grant_is_spent(now, others_wait)) {
    if (report) await(*report, *live_, 0);
    return release_and_ask();
  }
  if (report) answer(*report);
  start_turn(now);
}

void cohort::extend(turn& t, duration ttl, inquiry& i, time_point now) {
  if (const auto code = t.status()) return answer(i, {code, {}});
  if (!leased()) return answer(i, {errc::unsupported, "this backend has no ttl to extend"});
  t.ttl = ttl;
  renew(ttl, now);
  await(i, *live_, ticket_);
}

void cohort::close() {
  if (std::exchange(closed_, true)) return;
  answer_line({errc::closed, "the client was closed"}, false);
  if (current_ && current_->now == turn::fate::held) lose(turn::fate::closed);
  if (!live_) return;
  if (live_->now == conversation::state::asking) {
    live_->now = conversation::state::withdrawing;
    say(*live_, conversation::cancel);
  } else if (live_->now == conversation::state::held) {
    if (current_) current_->of = nullptr;
    release_live();
  }
}

void cohort::start_turn(time_point now) {
  turn_waits_for_renewal_ = false;
  if (!first_ || closed_) return release_and_ask();
  waiter& w = planted(mutant::newcomer_first) ? *last_ : *first_;
  if (leased()) {
    if (deadline_ <= now) return release_and_ask();
    const bool first_of_handed = turns_ == 0 && handed_rest_ > duration::zero();
    const bool is_short = deadline_ - now < w.how.ttl / 2;
    if (is_short && !first_of_handed && !planted(mutant::turn_on_short_lease)) {
      turn_waits_for_renewal_ = true;
      return renew(w.how.ttl, now);
    }
  }
  unlink(w);
  const std::int64_t place = planted(mutant::turn_not_counted) ? 0 : turns_;
  turn& t = new_turn();
  t.token = number_ * turns_per_grant + place;
  t.ttl = w.how.ttl;
  t.renews = w.renews;
  t.of = live_;
  t.deadline.store(deadline_, std::memory_order_relaxed);
  ++turns_;
  current_ = &t;
  plan_renewal();
  w.granted = &t;
  answer(w);
}

turn& cohort::new_turn() {
  if (!spare_turn_) return *new turn(home_);
  spare_turn_->start_anew();
  return *spare_turn_.release();
}

void cohort::lose(turn::fate why) {
  current_->now.store(why, std::memory_order_release);
  if (!std::exchange(current_->doubted, true)) tell(current_->doubt);
  if (!planted(mutant::loss_not_told)) tell(current_->loss);
  renew_at_ = never;
  answer_renewals(*live_, ticket_, {errc::lost, {}});
  if (planted(mutant::loss_releases_early)) {
    current_->of = nullptr;
    return release_live();
  }
  const bool admit = rules_.options.admit_after_loss || planted(mutant::turn_before_release);
  if (why != turn::fate::lost || !admit) return;
  current_ = nullptr;
  live_ = nullptr;
  ask_if_wanted();
}

void cohort::tell(std::stop_source& source) {
  if (!source.stop_possible()) return;
  if (!notices_) notices_ = std::make_unique<notices>();
  notices_->push_back(source);
}

// What asks next, when somebody is in line and nothing stands in the way.
conversation* cohort::ask_if_wanted() {
  if (!first_ || live_ || current_ || closed_) return nullptr;
  conversation& c = idle_conversation();
  c.todo = 0;  // a cancel that an answer has overtaken would withdraw the new claim
  c.now = conversation::state::asking;
  c.one_attempt = first_->how.one_attempt;
  c.ttl = first_->how.ttl;
  const std::string_view note = first_->how.note;
  c.note = note.empty() ? nullptr : std::make_unique<const std::string>(note);
  live_ = &c;
  ++busy_;
  say(c, conversation::acquire);
  return &c;
}

void cohort::release_live() {
  conversation& c = *std::exchange(live_, nullptr);
  c.now = conversation::state::releasing;
  turn_waits_for_renewal_ = false;
  deadline_ = never;
  renew_at_ = never;
  handed_rest_ = duration::zero();
  say(c, conversation::release);
}

void cohort::release_and_ask() {
  conversation& c = *live_;
  release_live();
  c.next = ask_if_wanted();
}

}  // namespace holdfast::core
