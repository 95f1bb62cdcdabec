// The cohort's lists: its queue of waiters, its claim records, and its pending effects.
#include <algorithm>
#include <utility>

#include "cohort/cohort.hpp"

namespace holdfast::core {

using detail::turn;

void cohort::push(waiter& w) noexcept {
  w.in_line = true;
  w.before = last_;
  w.after = nullptr;
  (last_ ? last_->after : first_) = &w;
  last_ = &w;
}

// The first waiter's `before` is not maintained: writing to the second waiter whenever the first
// one leaves would touch its stack, which with thousands of waiters is in no cache.
void cohort::unlink(waiter& w) noexcept {
  waiter* const before = &w == first_ ? nullptr : w.before;
  (before ? before->after : first_) = w.after;
  if (!w.after)
    last_ = before;
  else if (before)
    w.after->before = before;
  w.in_line = false;
}

void cohort::answer(completion& c, failure why) {
  c.why = std::move(why);
  answer(c);
}

void cohort::answer(waiter& w, failure why) {
  if (rules_.counts) rules_.counts->failed(why.code);
  answer(static_cast<completion&>(w), std::move(why));
}

void cohort::answer(confirmation& i, failure why) {
  if (rules_.counts && why.code) rules_.counts->failed(why.code);
  answer(static_cast<completion&>(i), std::move(why));
}

void cohort::answer(completion& c) noexcept { answered_.push(c); }

void cohort::answer_line(const failure& why, bool only_one_attempt) {
  while (first_ && (!only_one_attempt || first_->request.one_attempt)) {
    waiter& w = *first_;
    unlink(w);
    answer(w, why);
  }
}

void cohort::await(confirmation& i, const claim_record& about, std::uint32_t ticket) noexcept {
  i.about = &about;
  i.ticket = ticket;
  i.after = std::exchange(confirmations_, &i);
  earliest_until_ = std::min(earliest_until_, i.until);
}

template <class Which>
bool cohort::answer_confirmations(const failure& why, Which which) {
  bool any = false;
  for (confirmation** at = &confirmations_; *at;) {
    confirmation& i = **at;
    if (!which(std::as_const(i))) {
      at = &i.after;
      continue;
    }
    *at = i.after;
    answer(i, why);
    any = true;
  }
  return any;
}

void cohort::answer_overdue(time_point now) {
  const failure unknown{errc::outcome_unknown,
                        "no answer within the op-timeout; it goes on in the background"};
  answer_confirmations(unknown, [&](const confirmation& i) { return i.until <= now; });
  for (const confirmation* i = confirmations_; i; i = i->after)
    earliest_until_ = std::min(earliest_until_, i->until);
}

void cohort::answer_renewals(const claim_record& c, std::uint32_t up_to, const failure& why) {
  answer_confirmations(why, [&](const confirmation& i) {
    return i.about == &c && i.ticket != 0 && i.ticket <= up_to;
  });
}

bool cohort::is_release_awaited(const claim_record& c) const noexcept {
  const confirmation* i = confirmations_;
  while (i && (i->about != &c || i->ticket != 0)) i = i->after;
  return i != nullptr;
}

bool cohort::answer_releases(const claim_record& c, const failure& why) {
  return answer_confirmations(why, [&](const confirmation& i) {
    return i.about == &c && i.ticket == 0;
  });
}

void cohort::watch(detail::turn& t, loss_watch& w) {
  const std::error_code status = t.status();
  if (status) return answer(w, {status == outcome::lost ? std::error_code() : status, {}});
  w.on = &t;
  w.after = std::exchange(t.more().watches, &w);
}

void cohort::end_watch(loss_watch& w) {
  if (!w.on) return;
  loss_watch** at = &w.on->more().watches;
  while (*at != &w) at = &(*at)->after;
  *at = w.after;
  w.on = nullptr;
  answer(w, {errc::canceled, {}});
}

void cohort::answer_watches(detail::turn& t, std::error_code code) {
  if (t.is_plain()) return;
  for (loss_watch* w = std::exchange(t.more().watches, nullptr); w;) {
    loss_watch* const after = w->after;
    w->on = nullptr;
    answer(*w, {code, {}});
    w = after;
  }
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

void cohort::hold(claim_record& c) noexcept { c.next = std::exchange(held_, &c); }

void cohort::drop_grant(claim_record& c) noexcept {
  claim_record** at = &held_;
  while (*at && *at != &c) at = &(*at)->next;
  if (*at) *at = std::exchange(c.next, nullptr);
}

bool cohort::is_held(const claim_record& c) const noexcept {
  const claim_record* at = held_;
  while (at && at != &c) at = at->next;
  return at != nullptr;
}

void cohort::schedule(claim_record& c, claim_record::verb v) noexcept {
  c.pending_verbs = static_cast<unsigned char>(c.pending_verbs | v);
  if (!std::exchange(c.is_scheduled, true)) scheduled_.push(c);
}

claim_record* cohort::take_scheduled() noexcept {
  claim_record* const c = scheduled_.pop();
  if (c) c->is_scheduled = false;
  return c;
}

completion* cohort::take_answered() noexcept { return answered_.take_all(); }

claim_record& cohort::idle_record() {
  for (claim_record* c = &first_record_; c; c = c->other.get())
    if (c->now == claim_record::state::idle) return *c;
  auto made = std::make_unique<claim_record>(first_record_.home);
  made->other = std::exchange(first_record_.other, nullptr);
  first_record_.other = std::move(made);
  return *first_record_.other;
}

void cohort::idle(claim_record& c) noexcept {
  c.now = claim_record::state::idle;
  --busy_;
}

}  // namespace holdfast::core
