// The side towards the claims, which is the contract of claims::store_of; then the side towards the
// server: what its replies mean, connections that come and go, heartbeats.
#include "backend/mysql/strategies/pinned/strategy.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "base/mutant.hpp"
#include "seam/client_options.hpp"

namespace holdfast::mysql::pinned {

using base::mutant;
using base::planted;
using operation = pinned_operation;
using verdict = pinned_verdict;

namespace {

constexpr const char* heartbeat = "SELECT @@read_only";

std::uint64_t unsigned_of(std::string_view text) noexcept {
  std::uint64_t out = 0;
  const std::from_chars_result read = std::from_chars(text.data(), text.data() + text.size(), out);
  return read.ec == std::errc{} ? out : 0;
}

// A lock that another connection holds: of MariaDB, and of NOWAIT in MySQL.
bool is_busy(unsigned error) noexcept {
  return error == error::lock_wait_timeout || error == error::locked_now;
}

// The verdict of a reply without an error (lock_statements.hpp).
verdict verdict_for(operation to, const sql_reply& reply) noexcept {
  if (to == operation::create) return verdict::done;
  if (reply.rows.empty()) return to == operation::remove ? verdict::done : verdict::absent;
  const bool is_one = reply.cell(0, 0) == "1";
  switch (to) {
    case operation::confirm: return is_one ? verdict::granted : verdict::gone;
    case operation::remove: return is_one ? verdict::done : verdict::gone;
    default: break;
  }
  if (reply.is_null(0, 0)) return verdict::not_now;
  if (!is_one) return verdict::busy;
  return to == operation::wait ? verdict::waited : verdict::granted;
}

bool is_read_only(operation to, const sql_reply& reply) noexcept {
  if (to != operation::try_lock && to != operation::confirm) return false;
  const std::string_view is_set = reply.cell(0, 2);
  return !is_set.empty() && is_set != "0" && !planted(mutant::replica_grant_believed);
}

constexpr std::int64_t number_max = (1ll << 53) - 1;

}  // namespace

strategy::strategy(base::environment& env, const settings& s, const lock_statements& texts)
    : claims_strategy(env, s), texts_(texts) {}

void strategy::inspect(std::string_view, seam::holders_handler& to) {
  to.on_failed(
      {errc::unsupported, "the server does not list the locks of strategy=" + settings_.strategy +
                              "; request the holders of one lock, or use strategy=row"});
}

void strategy::break_lock(std::string_view, std::string_view, seam::decision_handler& to) {
  to.on_failed({errc::unsupported, "a lock of strategy=" + settings_.strategy +
                                       " ends with the connection of its holder; KILL that "
                                       "connection on the server"});
}

void strategy::add(claim& c, std::string_view name) {
  c.key = texts_.key_of(name);
  claims_.add(c);
}

std::optional<pinned_recipe::reply> strategy::submit(claim& c, operation op, time_point now,
                                                     base::event_queue&) {
  note_submitted(c, now);
  if (op == operation::remove) return remove_from_server(c, now);
  c.queued = op;
  c.follows_release = op == operation::try_lock && is_being_released(c.key);
  if (!c.follows_release || planted(mutant::statements_overtake)) start(c, now);
  return {};
}

// Over another connection a try could overtake the release before it.
bool strategy::is_being_released(std::string_view key) const {
  bool out = false;
  claims_.for_each_in(key, [&](const claim& c) { out = out || c.is_leaving; });
  return out;
}

void strategy::start(claim& c, time_point now) {
  c.follows_release = false;
  if (c.awaits_pin) return;
  if (!c.connection) c.connection = over_->pin(c, now);
  c.awaits_pin = !c.connection;
  if (c.connection) send(c, c.queued, now);
}

void strategy::start_followers(std::string_view key, time_point now) {
  if (is_being_released(key)) return;
  claims_.for_each_in(key, [&](claim& c) {
    if (c.follows_release) start(c, now);
  });
}

// A statement that waits cannot be withdrawn: its connection is ended, and the reply follows when
// the server no longer knows it.
std::optional<pinned_recipe::reply> strategy::remove_from_server(claim& c, time_point now) {
  if (c.connection) {
    if (c.connection->is_idle()) {
      send(c, operation::remove, now);
    } else if (c.has_heartbeat) {
      c.queued = operation::remove;
    } else {
      give_up_connection(c, now);
    }
    return {};
  }
  if (c.dead_id != 0) return {};
  // Nothing is there.
  return pinned_recipe::reply{.to = operation::remove,
                              .what = verdict::done,
                              .epoch = c.recipe().epoch()};
}

void strategy::give_up_connection(claim& c, time_point now) {
  session& s = *std::exchange(c.connection, nullptr);
  c.dead_id = s.id();
  c.has_heartbeat = false;
  over_->abandon(s, now);
}

void strategy::withdraw_orphan(claim& c, time_point now, base::event_queue&) {
  if (c.connection) give_up_connection(c, now);
}

void strategy::send(claim& c, operation op, time_point now) {
  const time_point due = base::saturating_add(now, settings_.op_timeout);
  const lock_mode mode = c.details.mode;
  c.queued = operation::none;
  switch (op) {
    case operation::try_lock: return send_statement(c, op, texts_.try_lock(c.key, mode), now, due);
    case operation::wait: return send_statement(c, op, texts_.wait(c.key, mode), now, base::never);
    case operation::confirm: return send_statement(c, op, texts_.confirm(c.key, mode), now, due);
    case operation::create: return send_create(c, now);
    case operation::remove: return send_statement(c, op, texts_.release(c.key), now, due);
    case operation::none: return;
  }
}

request& strategy::request_of(claim& c, operation op) {
  request& r = take_request();
  r.whose = c.place();
  r.to = op;
  r.epoch = c.recipe().epoch();
  r.connection = c.connection->id();
  r.idle_timeout = c.connection->idle_timeout();
  r.floor = last_number_;
  return r;
}

void strategy::send_statement(claim& c, operation op, sql_statement statement, time_point now,
                              time_point due) {
  c.has_tried = c.has_tried || op != operation::none;
  over_->run(*c.connection, std::move(statement), request_of(c, op), now, due);
}

// On a connection that commits each statement, so that no claim holds what it creates.
void strategy::send_create(claim& c, time_point now) {
  over_->submit(lane::commands, texts_.create(c.key), request_of(c, operation::create), now);
}

// An idle claim returns its connection. One that still executes something is ended.
void strategy::after_step(claim& c, time_point now) {
  if (c.recipe().is_idle()) {
    if (std::exchange(c.awaits_pin, false)) over_->forget_pin(c);
    if (c.connection && !c.connection->is_idle()) give_up_connection(c, now);
    if (c.connection) give_back_connection(c, now);
    c.queued = operation::none;
    c.obstacle.reset();
    c.is_doubt_reported = c.has_tried = c.follows_release = false;
  }
  if (std::exchange(c.is_leaving, c.recipe().is_leaving()) && !c.is_leaving)
    start_followers(c.key, now);
  const bool listens = c.recipe().is_held();  // the end of its connection is to be noticed
  over_->reactor().count(c, c.recipe().waits(), listens);
}

void strategy::give_back_connection(claim& c, time_point now) {
  session& s = *std::exchange(c.connection, nullptr);
  if (sql_statement last = c.has_tried ? texts_.end_of_try() : sql_statement(); !last.empty())
    over_->run(s, std::move(last), ignored_, now, base::saturating_add(now, settings_.op_timeout));
  over_->unpin(s, now);
}

void claim_record::on_pinned(session& s, time_point now, event_queue& events) {
  auto& c = static_cast<claim&>(*this);
  c.store().on_pinned(c, s, now, events);
}
void claim_record::on_pin_failed(const failure& why, bool is_final, time_point now,
                                 event_queue& events) {
  auto& c = static_cast<claim&>(*this);
  c.store().on_pin_failed(c, why, is_final, now, events);
}
void claim_record::on_pin_lost(const failure&, time_point now, event_queue& events) {
  auto& c = static_cast<claim&>(*this);
  c.store().on_pin_lost(c, now, events);
}
void request::on_reply(const sql_reply& r, const reply_context& c) { home_.on_reply(*this, r, c); }
void request::on_cut(const failure&, const reply_context& c) { home_.on_cut(*this, c); }

// The server closes an idle connection no earlier than the idle timeout after its last reply.
time_point strategy::deadline_of(const request& q, time_point sent) const noexcept {
  const duration worth = seam::worth(q.idle_timeout, settings_.rules.clock_skew);
  return planted(mutant::idle_timeout_ignored) ? base::never : base::saturating_add(sent, worth);
}

pinned_recipe::reply strategy::read(claim& c, const request& q, const sql_reply& reply,
                                    time_point sent, std::string& text) {
  pinned_recipe::reply r{.to = q.to,
                         .epoch = q.epoch,
                         .deadline = deadline_of(q, sent),
                         .term = q.idle_timeout};
  if (!reply.is_ok()) {
    if (q.to != operation::remove && is_busy(reply.error)) {
      r.what = verdict::busy;
      return r;
    }
    failure why = explain(reply.error, reply.text);
    r.what = verdict_of(reply.error) == sql_verdict::not_now ? verdict::not_now : verdict::failed;
    if (r.what == verdict::failed) r.why = static_cast<errc>(why.code.value());
    text = std::move(why.text);
    return r;
  }
  r.what = verdict_for(q.to, reply);
  if (q.to == operation::remove) c.has_tried = false;
  if (r.what == verdict::granted) take_number(q, reply, r, text);
  if (r.what != verdict::granted && r.what != verdict::waited) return r;
  c.confirmed_at = sent;
  c.owner_id = q.connection;
  return r;
}

// All locks of a server draw from one counter. A server that started twice within one second, or
// whose clock was set back, repeats numbers.
void strategy::take_number(const request& q, const sql_reply& reply, pinned_recipe::reply& r,
                           std::string& text) {
  r.number = number_of(unsigned_of(reply.cell(0, 1)));
  const std::int64_t floor = planted(mutant::smaller_number_accepted) ? 0 : q.floor;
  if (r.number > floor) {
    last_number_ = std::max(last_number_, r.number);
    return;
  }
  r.what = verdict::failed;
  r.why = r.number > 0 ? errc::refused : errc::exhausted;
  text = r.number > 0
             ? "the server's tokens went back: it was started twice within a second, its clock was "
               "set back, or it is another server; tokens would repeat. Restart the server once "
               "its clock is right"
             : "the server's UUID_SHORT() exceeds the range of a token; correct the server's clock";
}

void strategy::on_reply(request& q, const sql_reply& reply, const reply_context& context) {
  claim* const c = claims_.at(q.whose);
  const request asked = q;
  give_back(q);
  if (!c) return;
  if (asked.to == operation::none) return on_heartbeat(*c, asked, reply, context);
  if (c->recipe().epoch() != asked.epoch) return;
  if (c->connection == &context.on && is_read_only(asked.to, reply))
    return leave_replica(*c, context);
  std::string text;
  pinned_recipe::reply r = read(*c, asked, reply, context.sent, text);
  // The lock may still be that of the claim's former connection, whose end is awaited.
  if (r.what == verdict::busy && c->recipe().is_attempt() && c->dead_id != 0)
    r.what = verdict::not_now;
  c->obstacle.reset();
  if (r.what == verdict::not_now && !text.empty())
    c->obstacle = std::make_unique<const std::string>(text);
  if (r.what == verdict::granted) over_->tick_by(context.sent + asked.idle_timeout / 3);
  c->on_reply(r, std::move(text), context.now, context.events);
}

void strategy::on_cut(request& q, const reply_context& context) {
  claim* const c = claims_.at(q.whose);
  const bool is_current = c && c->recipe().epoch() == q.epoch;
  const operation to = q.to;
  if (is_current) c->obstacle.reset();
  if (is_current && to == operation::remove) c->dead_id = q.connection;
  give_back(q);  // on_pin_lost() follows, but for a statement of the commands
  if (is_current && to == operation::create) send_again_later(*c, to, context.now, context.events);
}

void strategy::send_again_later(claim& c, operation op, time_point now, event_queue& events) {
  c.on_reply({.to = op, .what = verdict::not_now, .epoch = c.recipe().epoch()}, {}, now, events);
}

void strategy::on_pinned(claim& c, session& s, time_point now, event_queue&) {
  c.awaits_pin = false;
  c.connection = &s;
  send(c, c.queued, now);
}

void strategy::on_pin_failed(claim& c, const failure& why, bool is_final, time_point now,
                             event_queue& events) {
  c.awaits_pin = false;
  if (is_final || c.recipe().is_attempt())
    return c.give_up(static_cast<errc>(why.code.value()), why.text, now, events);
  send_again_later(c, c.queued, now, events);
}

void strategy::on_pin_lost(claim& c, time_point now, event_queue& events) {
  const std::uint64_t id = std::exchange(c.connection, nullptr)->id();
  c.has_heartbeat = false;
  if (c.recipe().is_leaving() || c.recipe().is_attempt()) c.dead_id = id;
  c.on([&](pinned_recipe& r) { return r.on_lost(now, rules()); }, now, events);
}

void strategy::on_dead(std::uint64_t id, bool is_certain, time_point now, event_queue& events) {
  claims_.for_each([&](claim& c) {
    if (c.dead_id != id) return;
    c.dead_id = 0;
    if (!c.recipe().is_leaving()) return;
    const verdict end = is_certain ? verdict::done : verdict::unknown;
    c.on_reply({.to = operation::remove, .what = end, .epoch = c.recipe().epoch()}, {}, now,
               events);
  });
}

void strategy::on_down(const failure& why, loss kind, time_point now, event_queue& events) {
  watch_outage(now);
  if (kind != loss::refused) return;  // claims without a connection are answered by on_pin_failed()
  const auto waits = [](const claim& c) { return c.recipe().waits() && !c.connection; };
  claims_.give_up(waits, static_cast<errc>(why.code.value()), why.text, now, events);
}

void strategy::on_tick(time_point now, event_queue& events) {
  end_waits(now, events);
  claims_.for_each([&](claim& c) { beat(c, now, events); });
  over_->tick_by(claims_.wake_due(now, events));
}

// A connection that holds a lock is idle: the server closes it after its idle timeout. A heartbeat
// that is not answered by the deadline ends it, and the lock with it.
void strategy::beat(claim& c, time_point now, event_queue& events) {
  if (!c.recipe().is_held() || !c.connection || planted(mutant::heartbeat_omitted)) return;
  const time_point due = c.confirmed_at + beat_every(c);
  if (!c.has_heartbeat && due <= now && c.connection->is_idle()) {
    c.has_heartbeat = true;
    const time_point end = std::max(now, c.recipe().granted().deadline);
    send_statement(c, operation::none, heartbeat, now, end);
  }
  const time_point doubt = due + beat_every(c);
  if (c.has_heartbeat && doubt <= now && !std::exchange(c.is_doubt_reported, true))
    c.on([](pinned_recipe& r) { return r.on_doubtful(); }, now, events);
  over_->tick_by(due > now ? due : doubt > now ? doubt : base::never);
}

// The server that takes writes may grant the same lock to another client.
void strategy::leave_replica(claim& c, const reply_context& context) {
  over_->on_demoted(*c.connection, context.now);
  leave_connection(c, context);
}

void strategy::leave_connection(claim& c, const reply_context& context) {
  give_up_connection(c, context.now);
  c.on([&](pinned_recipe& r) { return r.on_lost(context.now, rules()); }, context.now,
       context.events);
}

void strategy::on_heartbeat(claim& c, const request& q, const sql_reply& reply,
                            const reply_context& context) {
  if (!c.connection || c.connection->id() != q.connection) return;
  c.has_heartbeat = false;
  const bool is_replica =
      reply.is_ok() && reply.cell(0, 0) != "0" && !planted(mutant::demoted_holder_kept);
  if (is_replica) return leave_replica(c, context);
  if (!reply.is_ok()) return leave_connection(c, context);
  c.confirmed_at = context.sent;
  c.is_doubt_reported = false;
  if (c.queued == operation::remove) return send(c, operation::remove, context.now);
  const time_point deadline = deadline_of(q, context.sent);
  over_->tick_by(context.sent + beat_every(c));
  c.on([&](pinned_recipe& r) { return r.on_deadline(deadline); }, context.now, context.events);
}

// The 8 high bits are the server's id, which another primary has otherwise. Below them: the second
// of the server's start, then a counter. Since 2020 in place of 1970 it fits into 53 bits until
// 2037.
std::int64_t number_of(std::uint64_t uuid_short) noexcept {
  constexpr std::uint64_t low_bits = (1ull << 56) - 1;
  constexpr std::int64_t start_of_2020 = 1577836800ll << 24;
  const auto number = static_cast<std::int64_t>(uuid_short & low_bits) - start_of_2020;
  return number > 0 && number <= number_max ? number : 0;
}

}  // namespace holdfast::mysql::pinned
