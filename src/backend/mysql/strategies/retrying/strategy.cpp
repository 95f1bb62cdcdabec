#include "backend/mysql/strategies/retrying/strategy.hpp"

#include <functional>
#include <string>
#include <utility>

#include "backend/mysql/strategies/retrying/queries.hpp"
#include "backend/mysql/transport/error_text.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql::retrying {

using base::mutant;
using base::planted;
using claims::retrying_operation;
using claims::retrying_recipe;
using claims::retrying_reply;
using verdict = retrying_reply::verdict;

strategy::strategy(base::environment& env, const settings& s, const statements& texts,
                   const retrying_recipe::rules& rules)
    : claims_strategy(env, s), texts_(texts), rules_of_claims_(rules) {}

void strategy::inspect(std::string_view prefix, seam::holders_handler& to) {
  start_list(*over_, texts_, settings_.prefix + std::string(prefix), settings_.prefix.size(), to);
}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(*over_, texts_.holders_of(settings_.prefix + std::string(name)),
                      settings_.prefix.size(), to);
}

void strategy::remove_unused(seam::result_handler<std::size_t>& to) {
  start_expiry(*over_, texts_, settings_.prefix, to);
}

void strategy::break_lock(std::string_view name, std::string_view seen,
                          seam::decision_handler& to) {
  start_breaking(*over_, texts_.break_lock(settings_.prefix + std::string(name), seen), to);
}

void strategy::add(claim& c, std::string_view name) {
  c.name = settings_.prefix + std::string(name);
  claims_.add(c);
}

lock_request strategy::request_of(const claim& c, const std::string& owner) const {
  return {.name = c.name,
          .owner = owner,
          .note = c.note(),
          .host = settings_.host,
          .pid = settings_.process,
          .ttl = c.recipe().ttl(),
          .mode = c.details.mode,
          .permits = c.details.permits,
          .total_permits = c.details.total_permits};
}

sql_statement strategy::statement_for(const claim& c, retrying_operation op,
                                      std::uint8_t step) const {
  const std::string owner = base::text_of(c.owner_id);
  const lock_request r = request_of(c, owner);
  switch (op) {
    case retrying_operation::renew: return texts_.renew(r);
    case retrying_operation::release:
    case retrying_operation::withdraw: return texts_.release(r.name, r.owner, r.mode);
    default: return texts_.try_lock(r, step);
  }
}

std::optional<retrying_reply> strategy::submit(claim& c, retrying_operation op, time_point now,
                                               base::event_queue&) {
  if (c.obstacle && c.obstacle->epoch != c.recipe().epoch()) c.obstacle.reset();
  if (op == retrying_operation::withdraw && !c.was_sent)
    return retrying_reply{.to = op, .what = verdict::done, .epoch = c.recipe().epoch()};
  c.was_sent = true;
  std::optional<retrying_reply> answer;
  if (sends_by_itself(c, op, now, answer)) {
    note_submitted(c, now);
    return answer;
  }
  request& r = take_request();
  r.whose = c.place();
  r.to = op;
  r.epoch = c.recipe().epoch();
  r.ticket = op == retrying_operation::renew ? c.ticket() : 0;
  r.ttl = c.recipe().ttl();
  r.step = op == retrying_operation::renew ? 0 : c.recipe().step_of_attempt();
  if (op == retrying_operation::renew)
    over_->submit_renewal(statement_for(c, op, r.step), r, now, order_of(c.name));
  else
    over_->submit(lane::commands, statement_for(c, op, r.step), r, now, order_of(c.name));
  note_submitted(c, now);
  return {};
}

std::size_t strategy::order_of(const std::string& name) noexcept {
  return std::hash<std::string>{}(name) | 1;
}

void strategy::renew_owner(claim& c) {
  c.owner_id = base::random_uuid(env_);
  c.was_sent = false;
}

void strategy::withdraw_orphan(claim& c, time_point now, base::event_queue&) {
  if (!c.owner_id || !c.was_sent || planted(mutant::unknown_acquire_dropped)) return;
  const time_point end = base::saturating_add(now, c.recipe().ttl() + claims::late_request_max);
  over_->tick_by(orphans_.add(now, *this, c, end));
}

void strategy::after_step(claim& c, time_point now) {
  on_step(c, now);
  if (c.recipe().is_idle()) c.owner_id = {};
  if (!c.recipe().waits()) c.obstacle.reset();
  over_->reactor().count(c, c.recipe().waits(), false);
}

bool strategy::has_requester(const request& r) const noexcept {
  const claim* const c = claims_.at(r.whose);
  return c && c->recipe().epoch() == r.epoch;
}

void strategy::on_reply(request& q, const sql_reply& reply, const reply_context& context) {
  if (looks_for_reason(q, reply, context)) return;
  retrying_reply r{.to = q.to,
                   .final = context.is_final,
                   .epoch = q.epoch,
                   .ticket = q.ticket,
                   .ttl = q.ttl,
                   .sent = context.sent};
  std::string text;
  if (!reply.is_ok()) {
    failure why = explain(reply.error, reply.text);
    r.what = verdict_of(reply.error) == sql_verdict::not_now ? verdict::not_now : verdict::failed;
    r.why = static_cast<errc>(why.code.value());
    text = std::move(why.text);
  } else if (q.to == retrying_operation::try_lock) {
    r = read_try(q.whose, reply, q.step, r);
  } else if (q.to == retrying_operation::renew && q.step == 1) {
    r.what = verdict::not_owner;
    r.why = reply.cell(0, 0).empty() ? errc::not_held : errc::lost;
  } else {
    const bool is_done = reply.affected > 0 || planted(mutant::affected_rows_ignored);
    r.what = is_done ? verdict::done : verdict::not_owner;
    claim* const c = claims_.at(q.whose);
    if (c && q.to == retrying_operation::release) read_release(*c, reply, r);
  }
  claim* const c = claims_.at(q.whose);
  give_back(q);
  if (c) note_obstacle(*c, r, text);
  if (c) c->on_reply(r, std::move(text), context.now, context.events);
}

// A request that is given up after its op-timeout is then not reported as one without an answer. A
// late reply is about an earlier request. submit() forgets the obstacle of an earlier request: the
// epoch of one that is given up has passed already when reason() is called.
void strategy::note_obstacle(claim& c, const retrying_reply& r, const std::string& text) {
  if (r.to == retrying_operation::renew || r.epoch != c.recipe().epoch()) return;
  if (text.empty()) return c.obstacle.reset();
  c.obstacle = std::make_unique<const request_obstacle>(request_obstacle{r.epoch, text});
}

std::string strategy::reason(const claim& c, errc why) const {
  const bool is_overdue = why == errc::unavailable || why == errc::outcome_unknown;
  return is_overdue && c.obstacle ? c.obstacle->text : over_->reason(why);
}

// A renewal found no row of its owner: the next statement reads the present owner, for the error.
bool strategy::looks_for_reason(request& q, const sql_reply& reply, const reply_context& context) {
  const bool counts = !planted(mutant::affected_rows_ignored);
  const bool found_nothing = reply.is_ok() && counts && reply.affected == 0;
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
  if (c->recipe().epoch() == epoch) c->obstacle.reset();
  c->on([&](retrying_recipe& r) { return r.on_cut(epoch, context.now, rules()); }, context.now,
        context.events);
}

void strategy::on_down(const failure& why, loss kind, time_point now, event_queue& events) {
  watch_outage(now);
  if (kind == loss::lost) return;
  const auto code = static_cast<errc>(why.code.value());
  // Where nothing can be connected to, one attempt has been made.
  const auto which = [&](const claim& c) {
    return kind == loss::refused ? c.recipe().waits() : c.recipe().is_attempt();
  };
  claims_.give_up(which, code, why.text, now, events);
}

void strategy::on_dead(std::uint64_t, bool, time_point now, event_queue&) {
  orphans_.resend_all(now);
}

void strategy::on_tick(time_point now, event_queue& events) {
  end_waits(now, events);
  over_->tick_by(claims_.wake_due(now, events));
  over_->tick_by(orphans_.tick(now));
}

}  // namespace holdfast::mysql::retrying
