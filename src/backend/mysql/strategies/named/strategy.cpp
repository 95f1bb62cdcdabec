// The side towards the claims: the contract of claims::store_of.
#include "backend/mysql/strategies/named/strategy.hpp"

#include <utility>

#include "backend/mysql/strategies/named/queries.hpp"

namespace holdfast::mysql::named {

using operation = named_operation;
using verdict = named_verdict;

strategy::strategy(base::environment& env, const settings& s)
    : env_(env), settings_(s), texts_(s.database, s.prefix), claims_(s.rules) {}

std::unique_ptr<seam::claim> strategy::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<claim>(*this, name, sink);
}

void strategy::inspect(std::string_view, seam::holders_handler& to) {
  to.on_failed({errc::unsupported,
                "the server lists no named locks; ask for the holders of one lock, or use "
                "strategy=row"});
}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  start_holders_query(*over_, texts_.holder(texts_.text_of(name)), name, to);
}

void strategy::break_lock(std::string_view, std::string_view, seam::decision_handler& to) {
  to.on_failed({errc::unsupported,
                "a named lock ends with the connection of its holder; KILL the connection id that "
                "the holders of the lock show"});
}

void strategy::end_claims(errc code, const std::string& why, time_point now,
                          base::event_queue& events) {
  claims_.give_up_all(code, why, now, events);
}

void strategy::add(claim& c, std::string_view name) {
  c.lock_text = texts_.text_of(name);
  claims_.add(c);
}

// The core destroys idle claims only, and those have no connection.
void strategy::remove(claim& c) noexcept { claims_.remove(c); }

std::optional<named_recipe::reply> strategy::submit(claim& c, operation what, time_point now,
                                                    base::event_queue&) {
  if (over_->is_unavailable()) {
    watch_outage(now);
    if (!c.recipe().is_waiter()) over_->retry_by(now + settings_.retry_base);
  }
  if (what == operation::remove) return remove_from_server(c, now);
  c.queued = what;
  if (c.awaits_pin) return {};
  if (!c.connection) c.connection = over_->pin(c, now);
  c.awaits_pin = !c.connection;
  if (c.connection) send(c, what, now);
  return {};
}

// A statement that waits cannot be withdrawn: its connection is ended, and the reply follows when
// the server no longer knows it.
std::optional<named_recipe::reply> strategy::remove_from_server(claim& c, time_point now) {
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
  named_recipe::reply nothing_is_there;
  nothing_is_there.to = operation::remove;
  nothing_is_there.epoch = c.recipe().epoch();
  nothing_is_there.what = verdict::done;
  return nothing_is_there;
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

void strategy::send(claim& c, operation what, time_point now) {
  const time_point due = base::saturating_add(now, settings_.op_timeout);
  c.queued = operation::none;
  switch (what) {
    case operation::try_lock:
      return send_statement(c, what, texts_.try_lock(c.lock_text), now, due);
    case operation::wait:
      return send_statement(c, what, texts_.wait(c.lock_text), now, base::never);
    case operation::confirm: return send_statement(c, what, texts_.confirm(c.lock_text), now, due);
    case operation::remove: return send_statement(c, what, texts_.release(c.lock_text), now, due);
    case operation::none: return;
  }
}

void strategy::send_statement(claim& c, operation what, std::string statement, time_point now,
                              time_point due) {
  request& r = take_request();
  r.whose = c.place();
  r.to = what;
  r.epoch = c.recipe().epoch();
  r.connection = c.connection->id();
  r.idle_timeout = c.connection->idle_timeout();
  over_->run(*c.connection, std::move(statement), r, now, due);
}

request& strategy::take_request() {
  if (spare_.empty()) {
    requests_.push_back(std::make_unique<request>(*this));
    return *requests_.back();
  }
  request& out = *spare_.back();
  spare_.pop_back();
  return out;
}

void strategy::wake_at(claim& c, time_point t) {
  claims_.wake_at(c, t);
  over_->tick_by(t);
}

// An idle claim returns its connection. One that still executes something is ended.
void strategy::after_step(claim& c, time_point now) {
  if (c.recipe().is_idle()) {
    if (std::exchange(c.awaits_pin, false)) over_->forget_pin(c);
    if (c.connection && !c.connection->is_idle()) give_up_connection(c, now);
    if (c.connection) over_->unpin(*std::exchange(c.connection, nullptr), now);
    c.queued = operation::none;
    c.dead_id = c.owner_id = 0;
    c.is_told = false;
  }
  const bool waits = c.recipe().waits();
  const bool listens = c.recipe().is_held();  // the end of its connection is to be noticed
  if (waits == c.is_waiting && listens == c.is_listening) return;
  over_->reactor().count(waits - c.is_waiting, listens - c.is_listening);
  c.is_waiting = waits;
  c.is_listening = listens;
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

}  // namespace holdfast::mysql::named
