// The side towards the server: what its replies mean, connections that come and go.
#include <algorithm>
#include <utility>

#include "backend/mysql/strategies/row/strategy.hpp"
#include "backend/mysql/transport/error_text.hpp"

namespace holdfast::mysql::row {

using claims::retrying_operation;
using claims::retrying_recipe;
using claims::retrying_reply;
using verdict = retrying_reply::verdict;

bool strategy::is_wanted(const request& r) const noexcept {
  const claim* const c = claims_.at(r.whose);
  return c && c->recipe().epoch() == r.epoch;
}

// Steps of a try: 0 take, 1 look, 2 create, 3 take, 4 look.
retrying_reply strategy::read_try(const sql_reply& reply, std::uint8_t step,
                                  retrying_reply r) const {
  r.what = verdict::next_step;
  if (step == 0 || step == 3) {
    if (reply.insert_id == 0) return r;
    r.what = verdict::granted;
    r.number = static_cast<std::int64_t>(reply.insert_id);
    return r;
  }
  if (step == 2) return r;
  if (reply.rows.empty()) {
    if (step == 4) r.what = verdict::not_now;
    return r;
  }
  const std::int64_t left = std::max<std::int64_t>(0, reply.number(0, 1));
  r.what = verdict::busy;
  r.rest = std::chrono::microseconds{left};
  return r;
}

void strategy::on_reply(request& q, const sql_reply& reply, const reply_context& context) {
  if (looks_for_reason(q, reply, context)) return;
  retrying_reply r;
  r.to = q.to;
  r.epoch = q.epoch;
  r.ticket = q.ticket;
  r.ttl = q.ttl;
  r.sent = context.sent;
  r.final = context.is_final;
  std::string text;
  if (!reply.is_ok()) {
    failure why = explain(reply.error, reply.text);
    r.what = verdict_of(reply.error) == sql_verdict::not_now ? verdict::not_now : verdict::failed;
    r.why = static_cast<errc>(why.code.value());
    text = std::move(why.text);
  } else if (q.to == retrying_operation::try_lock) {
    r = read_try(reply, q.step, r);
  } else if (q.to == retrying_operation::renew && q.step == 1) {
    r.what = verdict::not_owner;
    r.why = reply.cell(0, 0).empty() ? errc::not_held : errc::lost;
  } else {
    r.what = reply.affected > 0 ? verdict::done : verdict::not_owner;
  }
  claim* const c = claims_.at(q.whose);
  give_back(q);
  if (c) c->on_reply(r, std::move(text), context.now, context.events);
}

// A renewal that found no row of its owner: who has the lock now?
bool strategy::looks_for_reason(request& q, const sql_reply& reply, const reply_context& context) {
  const bool found_nothing = reply.is_ok() && reply.affected == 0;
  if (q.to != retrying_operation::renew || q.step != 0 || !found_nothing) return false;
  const claim* const c = claims_.at(q.whose);
  if (!c) return false;
  q.step = 1;
  over_->submit(lane::renewals, texts_.look(c->name), q, context.now);
  return true;
}

void strategy::on_cut(request& q, const reply_context& context) {
  claim* const c = claims_.at(q.whose);
  const bool is_renewal = q.to == retrying_operation::renew;
  const std::uint32_t epoch = q.epoch;
  give_back(q);
  if (!c || is_renewal) return;  // the core repeats a renewal
  c->on([&](retrying_recipe& r) { return r.on_cut(epoch, context.now, rules()); }, context.now,
        context.events);
}

void strategy::on_ready(time_point now, event_queue&) {
  over_->submit(lane::commands, texts_.probe(), opening_, now);
}

void strategy::on_table(const sql_reply& r, const reply_context& context) {
  ++opening_step_;
  if (r.is_ok() && opening_step_ != 2) {
    opened_.emplace();
    return;
  }
  if (opening_step_ == 1 && r.error == error::no_table)
    return over_->submit(lane::commands, texts_.create_table(), opening_, context.now);
  if (opening_step_ == 2 && r.is_ok())
    return over_->submit(lane::commands, texts_.probe(), opening_, context.now);
  failure why = explain(r.error, r.text);
  if (opening_step_ == 2)
    why = {errc::refused, "the table " + settings_.table + " cannot be created (" + r.text +
                              "); have it created with: " + texts_.create_table()};
  if (why.code == errc::mismatch)
    why.text = "the table " + settings_.table +
               " has other columns than the locks of this version"
               " (" +
               r.text + "); name another table with ?table=";
  opened_ = std::move(why);
}

void strategy::on_down(const failure& why, loss how, time_point now, event_queue& events) {
  watch_outage(now);
  if (how == loss::lost) return;
  const auto code = static_cast<errc>(why.code.value());
  // Where nothing can be connected to, one attempt has been made.
  const auto which = [&](const claim& c) {
    return how == loss::refused ? c.recipe().waits() : c.recipe().is_attempt();
  };
  claims_.give_up(which, code, why.text, now, events);
}

void strategy::on_dead(std::uint64_t, bool, time_point now, event_queue&) {
  orphans_.resend_all(now);
}

void strategy::watch_outage(time_point now) {
  if (over_->is_unavailable()) over_->tick_by(claims_.first_end_of_wait(now));
}

void strategy::on_tick(time_point now, event_queue& events) {
  const auto why = [this] { return over_->reason(errc::unavailable); };
  const auto waits = claims_.end_waits(over_->out_since(), why, now, events);
  over_->tick_by(waits.due);
  if (waits.retry_now) over_->retry_by(now);
  over_->tick_by(claims_.wake_due(now, events));
  over_->tick_by(orphans_.tick(now));
}

}  // namespace holdfast::mysql::row
