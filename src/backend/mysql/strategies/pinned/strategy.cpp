// The side towards the claims: the contract of claims::store_of.
#include "backend/mysql/strategies/pinned/strategy.hpp"

#include <utility>

#include "base/mutant.hpp"

namespace holdfast::mysql::pinned {

using base::mutant;
using base::planted;
using operation = pinned_operation;
using verdict = pinned_verdict;

strategy::strategy(base::environment& env, const settings& s, const lock_statements& texts)
    : env_(env), settings_(s), texts_(texts), claims_(s.rules) {}

std::unique_ptr<seam::claim> strategy::open(std::string_view name, seam::claim_sink& sink) {
  return std::make_unique<claim>(*this, name, sink);
}

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

void strategy::end_claims(errc code, const std::string& why, time_point now,
                          base::event_queue& events) {
  claims_.give_up_all(code, why, now, events);
}

void strategy::add(claim& c, std::string_view name) {
  c.key = texts_.key_of(name);
  claims_.add(c);
}

// The core destroys idle claims only, and those have no connection.
void strategy::remove(claim& c) noexcept { claims_.remove(c); }

std::optional<pinned_recipe::reply> strategy::submit(claim& c, operation what, time_point now,
                                                     base::event_queue&) {
  if (over_->is_unavailable()) {
    watch_outage(now);
    if (!c.recipe().is_waiter()) over_->retry_by(now + settings_.retry_base);
  }
  if (what == operation::remove) return remove_from_server(c, now);
  c.queued = what;
  c.follows_release = what == operation::try_lock && is_being_released(c.key);
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
  pinned_recipe::reply nothing_is_there;
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
  const lock_mode mode = c.details.mode;
  c.queued = operation::none;
  switch (what) {
    case operation::try_lock:
      return send_statement(c, what, texts_.try_lock(c.key, mode), now, due);
    case operation::wait:
      return send_statement(c, what, texts_.wait(c.key, mode), now, base::never);
    case operation::confirm: return send_statement(c, what, texts_.confirm(c.key, mode), now, due);
    case operation::create: return send_create(c, now);
    case operation::remove: return send_statement(c, what, texts_.release(c.key), now, due);
    case operation::none: return;
  }
}

request& strategy::request_of(claim& c, operation what) {
  request& r = take_request();
  r.whose = c.place();
  r.to = what;
  r.epoch = c.recipe().epoch();
  r.connection = c.connection->id();
  r.idle_timeout = c.connection->idle_timeout();
  r.floor = last_number_;
  return r;
}

void strategy::send_statement(claim& c, operation what, std::string statement, time_point now,
                              time_point due) {
  c.has_tried = c.has_tried || what != operation::none;
  over_->run(*c.connection, std::move(statement), request_of(c, what), now, due);
}

// On a connection that commits each statement, so that no claim holds what it creates.
void strategy::send_create(claim& c, time_point now) {
  over_->submit(lane::commands, texts_.create(c.key), request_of(c, operation::create), now);
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
    if (c.connection) give_back_connection(c, now);
    c.queued = operation::none;
    c.obstacle.reset();
    c.dead_id = c.owner_id = 0;
    c.is_told = c.has_tried = c.follows_release = false;
  }
  if (std::exchange(c.is_leaving, c.recipe().is_leaving()) && !c.is_leaving)
    start_followers(c.key, now);
  const bool listens = c.recipe().is_held();  // the end of its connection is to be noticed
  over_->reactor().count(c, c.recipe().waits(), listens);
}

void strategy::give_back_connection(claim& c, time_point now) {
  session& s = *std::exchange(c.connection, nullptr);
  if (std::string last = c.has_tried ? texts_.end_of_try() : std::string(); !last.empty())
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

}  // namespace holdfast::mysql::pinned
