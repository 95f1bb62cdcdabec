#include "backend/mysql/strategies/row/bell.hpp"

#include "backend/mysql/strategies/row/strategy.hpp"

namespace holdfast::mysql::row {

using claims::retrying_recipe;

bell::bell(strategy& s, const retrying::claim& c) : home_(s), whose_(c.place()), name_(c.name) {}

retrying::claim* bell::claim() const noexcept {
  retrying::claim* const c = home_.claim_of(whose_);
  return c && c->waits_for == this ? c : nullptr;
}

bool bell::start(time_point now) {
  on_ = home_.over().pin(*this, now);
  if (on_) wait(now);
  return on_ != nullptr;
}

void bell::wait(time_point now) {
  state_ = state::waiting;
  const time_point due =
      base::saturating_add(now, statements::bell_wait + home_.rules().op_timeout);
  home_.over().run(*on_, home_.row_texts().wait_for_bell(name_), *this, now, due);
}

void bell::leave(time_point now) {
  if (on_ && state_ == state::had) {
    state_ = state::leaving;
    home_.over().run(*on_, home_.row_texts().release_bell(name_), *this, now);
  } else if (on_) {
    state_ = state::left;
    home_.over().abandon(*on_, now);  // on_cut() follows
  } else {
    home_.over().forget_pin(*this);
    home_.drop(*this);
  }
}

void bell::on_pinned(session& s, time_point now, event_queue& events) {
  on_ = &s;
  wait(now);
  if (retrying::claim* const c = claim()) c->on_reply(home_.asleep(*c, true), {}, now, events);
}

void bell::on_pin_failed(const failure&, bool, time_point now, event_queue& events) {
  retrying::claim* const c = claim();
  if (c) c->waits_for = nullptr;
  home_.drop(*this);
  if (c) c->on_reply(home_.asleep(*c, false), {}, now, events);
}

// Another claim may hold the lock by now, so the row is read.
void bell::on_reply(const sql_reply& r, const reply_context& context) {
  if (state_ == state::leaving) {
    home_.over().unpin(*on_, context.now);
    return home_.drop(*this);
  }
  if (state_ == state::left) return;
  has_queued_ = has_queued_ || (r.is_ok() && !r.is_null(0, 0));
  if (r.is_ok() && r.cell(0, 1) == "0") return wait(context.now);
  if (!r.is_ok() || r.cell(0, 1) != "1") {
    home_.over().unpin(*on_, context.now);
    return end(context.now, context.events);
  }
  state_ = state::had;
  const claims::timing& rules = home_.rules();
  const auto polls = [&](retrying_recipe& of) { return of.on_unsubscribed(context.now); };
  const auto tries = [&](retrying_recipe& of) { return of.on_message(context.now, rules); };
  if (retrying::claim* const c = claim()) c->on(polls, context.now, context.events);
  if (retrying::claim* const c = claim()) c->on(tries, context.now, context.events);
}

void bell::on_cut(const failure&, const reply_context&) {
  if (state_ == state::left) home_.drop(*this);  // else on_pin_lost() follows
}

void bell::on_pin_lost(const failure&, time_point now, event_queue& events) { end(now, events); }

void bell::end(time_point now, event_queue& events) {
  retrying::claim* const c = claim();
  if (c) c->waits_for = nullptr;
  home_.drop(*this);
  if (c) c->on([&](retrying_recipe& of) { return of.on_unsubscribed(now); }, now, events);
}

}  // namespace holdfast::mysql::row
