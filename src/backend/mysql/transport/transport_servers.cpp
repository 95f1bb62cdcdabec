// The transport's part that tells servers apart: which of them has the connections, and whether
// those that were lost have ended.
//
// The primary has them: the server that takes writes, if there is one alone. While nothing is
// connected, all servers of the URL are asked at once. A server that cannot be reached, or is
// read-only, is not the primary. If two take writes, no lock is granted: one of them was replaced
// by the other, or they do not replicate at all, and a client cannot know which. A silent server
// delays the choice by a quarter of the op-timeout.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/statement.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

// Longer than any statement was ever delayed by a network.
constexpr duration late_statement_max = 2min;
// The own connection is in each complete list.
constexpr std::string_view lookup_query =
    "SELECT ID,HOST FROM information_schema.PROCESSLIST WHERE ID IN (?,CONNECTION_ID())";

bool has_port(std::string_view address) noexcept { return address.find(':') != address.npos; }

}  // namespace

void transport::choose_primary(time_point now) {
  group& g = of(lane::commands);
  if (is_choosing()) return;
  if (now < g.retry_at) {
    reactor_.wake_by(g.retry_at);
    return;
  }
  choose_until_ = base::saturating_add(now, where_.op_timeout / 4);
  troubles_.assign(where_.servers.size(), {});
  for (std::size_t i = 0; i < where_.servers.size(); ++i)
    if (!open_one(lane::commands, i, now, troubles_[i])) reactor_.wake_by(now);
  reactor_.wake_by(choose_until_);
}

// After an answer, or at an alarm.
void transport::look_at_choice(time_point now, event_queue& events) {
  if (!is_choosing()) return;
  std::vector<session*> writable;
  bool is_awaited = false;
  for (const member& m : of(lane::commands).members) {
    session& s = *m.connection;
    is_awaited = is_awaited || !s.is_greeted();
    const auto is_of_same = [&](const session* w) { return w->server() == s.server(); };
    if (s.is_idle() && std::ranges::none_of(writable, is_of_same)) writable.push_back(&s);
  }
  if (is_awaited && (writable.empty() || now < choose_until_)) return;
  end_choice(writable, now, events);
}

void transport::end_choice(const std::vector<session*>& writable, time_point now,
                           event_queue& events) {
  choose_until_ = base::never;
  const bool is_sole = writable.size() == 1 || planted(mutant::second_primary_ignored);
  if (!writable.empty() && is_sole) {
    primary_ = writable.front()->server();
    for (const member& m : of(lane::commands).members)
      if (m.connection->server() != *primary_)
        m.connection->retire({errc::closed, "another server of the URL is the primary"});
    for (group& g : groups_) {
      g.failures = 0;
      g.retry_at = {};
    }
    on_greeted(*writable.front(), now, events);
    for (const lane l : {lane::renewals, lane::pinned}) serve(l, now, events);
    reactor_.wake_by(now);
    return;
  }
  const failure why = no_primary(writable);
  for (session* const s : writable) s->give_up(why);
  for (const lane l : {lane::commands, lane::pinned}) {
    note_failed(l, why, now);
    report_failed(l, false, now, events);
  }
}

failure transport::no_primary(const std::vector<session*>& writable) const {
  failure out{errc::unavailable, {}};
  if (!writable.empty()) {
    for (const session* const s : writable)
      out.text += (out.text.empty() ? "" : " and ") + base::text_of(where_.servers[s->server()]);
    out.text += " both accept writes; set read_only=ON on the one that is not the primary";
    return out;
  }
  for (std::size_t i = 0; i < troubles_.size(); ++i)
    out.text += (i == 0 ? "" : "; ") + base::text_of(where_.servers[i]) + ": " + troubles_[i].text;
  const auto is_same = [&](const failure& f) { return f.code == troubles_.front().code; };
  if (std::ranges::all_of(troubles_, is_same)) out.code = troubles_.front().code;
  return out;
}

// Each connection is closed once its statement is answered, and the locks that it holds are lost.
// A statement that waits for a lock may wait forever, or be granted a lock that counts for nothing.
void transport::on_demoted(session& s, time_point now) {
  if (primary_ != s.server()) return;
  const failure why{errc::unavailable, "the server is read-only, as a replica is"};
  for (const group& g : groups_)
    for (const member& m : g.members)
      m.connection->waits_for_lock(now) ? m.connection->give_up(why) : m.connection->retire(why);
  if (where_.servers.size() > 1) leave_primary(now);
  reactor_.wake_by(now);  // on_alarm() has both loops flushed
}

// The choice of another one begins with the next demand, without a pause.
void transport::leave_primary(time_point now) noexcept {
  if (!planted(mutant::former_primary_kept)) primary_.reset();
  of(lane::commands).retry_at = now;
}

// Lost connections: each is killed by its id until the server no longer knows it. KILL returns
// before the thread of the server has ended, so its success proves nothing.
//
// Ids begin again when a server starts. Whether an id still means the lost connection:
//
//   the server to which the KILL goes | the connection with that id  | effect
//   ----------------------------------+------------------------------+-----------------------------
//   another one                       | not looked up                | not killed, unverified
//   the same one, the same start      | not looked up: the lost one  | KILL until it is unknown
//   the same one, another start       | has another address          | the lost one is dead
//                                     | has its address with a port  | KILL until it is unknown
//                                     | has its address, no port     | not killed, unverified
//                                     | is not listed                | KILL until it is unknown, or
//                                     |                              | belongs to another user
//   the same one, not known whether   | not looked up                | not killed, unverified
//   the start is the same, and at     |                              |
//   one end no address is known       |                              |
//
// A start that seems to be another one may be the same: 2^24 calls of UUID_SHORT() change it too.
bool transport::is_final(time_point now) const noexcept {
  return kills_.empty() && now >= unverified_until_;
}

// The KILL comes before what is repeated because of the loss. A claim gets a connection after its
// greeting, which changes nothing on the server.
void transport::on_lost(session& s, time_point now) {
  const bool leaves_something = s.of() == lane::pinned ? member_of(s)->is_pinned : s.was_cut();
  if (leaves_something) add_kill(s, now);
}

void transport::add_kill(const session& s, time_point now) {
  if (s.id() == 0 || s.of() == lane::renewals) return;
  const auto is_known = [&](const kill& k) {
    return k.id == s.id() && k.server == s.server() && k.connected_at == s.connected_at();
  };
  if (std::ranges::any_of(kills_, is_known)) return;
  kills_.push_back({.id = s.id(),
                    .server = s.server(),
                    .identity = s.identity(),
                    .address = s.address(),
                    .started = s.started(),
                    .connected_at = s.connected_at(),
                    .harmless_at = base::saturating_add(now, late_statement_max)});
  reactor_.wake_by(now);
}

// The first server may still execute a statement that another one does not know.
transport::kill_step transport::first_step(const kill& k, const session& by) noexcept {
  const bool is_known = k.identity == by.identity() || planted(mutant::mysql_identity_ignored);
  if (by.server() != k.server || !is_known) return kill_step::pass;
  if (k.started != 0 && k.started == by.started()) return kill_step::kill;
  const bool have_addresses = !k.address.empty() && !by.address().empty();
  return have_addresses ? kill_step::look_up : kill_step::pass;
}

void transport::send_kill(time_point now) {
  if (is_killing_) return;
  member* const m = free_member(lane::commands);
  if (!m) return;
  kill& k = kills_.front();
  if (k.tried_until == base::never) k.tried_until = now + 2 * where_.op_timeout;
  m->forget_order();
  run_kill(*m->connection, first_step(k, *m->connection), now);
}

void transport::run_kill(session& by, kill_step step, time_point now) {
  is_killing_ = true;
  kill_step_ = step;
  const std::string_view text = step == kill_step::pass      ? "DO 0"
                                : step == kill_step::look_up ? lookup_query
                                                             : "KILL ?";
  const auto id = static_cast<std::int64_t>(kills_.front().id);
  run(by, bound(text, {id}), kills_by_, now);
}

void transport::on_killed(const sql_reply& r, const reply_context& c) {
  is_killing_ = false;
  if (kills_.empty()) return;
  if (kill_step_ == kill_step::pass) return finish_kill(false, c.now, c.events);
  if (kill_step_ == kill_step::look_up) return on_looked_up(r, c);
  // A user may kill its own connections.
  const bool is_of_another_user =
      kill_step_ == kill_step::kill_unlisted && r.error == error::not_owner_of_thread;
  const bool is_dead = r.error == error::no_such_thread || is_of_another_user;
  if (is_dead || planted(mutant::kill_believed_at_once)) return finish_kill(true, c.now, c.events);
  const bool goes_on = r.is_ok() && c.now < kills_.front().until();
  if (!goes_on) finish_kill(false, c.now, c.events);
}

// One that is not listed may be ending (MySQL), so that only KILL can report that it has ended.
void transport::on_looked_up(const sql_reply& r, const reply_context& c) {
  const kill& k = kills_.front();
  const auto listed = [&](std::uint64_t id) {
    std::optional<std::string_view> out;
    for (std::size_t i = 0; i < r.rows.size(); ++i)
      if (r.number(i, 0) == static_cast<std::int64_t>(id)) out = r.cell(i, 1);
    return out;
  };
  if (listed(c.on.id()) != c.on.address()) return finish_kill(false, c.now, c.events);
  const std::optional<std::string_view> found = listed(k.id);
  const bool is_other = found && (k.id == c.on.id() || *found != k.address);
  if (is_other && !planted(mutant::strange_connection_killed))
    return finish_kill(true, c.now, c.events);
  if (found && !has_port(k.address)) return finish_kill(false, c.now, c.events);
  run_kill(c.on, found ? kill_step::kill : kill_step::kill_unlisted, c.now);
}

// An outage takes no time from the KILLs after it.
void transport::on_kill_cut() noexcept {
  is_killing_ = false;
  if (!kills_.empty()) kills_.front().tried_until = base::never;
}

void transport::finish_kill(bool is_certain, time_point now, event_queue& events) {
  const kill ended = kills_.front();
  kills_.pop_front();
  if (!is_certain) unverified_until_ = std::max(unverified_until_, ended.harmless_at);
  user_.on_dead(ended.id, is_certain, now, events);
  if (kills_.empty()) serve(lane::commands, now, events);
}

}  // namespace holdfast::mysql
