#include "backend/mysql/transport/session.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "backend/mysql/transport/statement.hpp"
#include "base/mutant.hpp"

namespace holdfast::mysql {

using base::mutant;
using base::planted;
using std::chrono::seconds;

namespace {

constexpr std::string_view greeting_query =
    "SHOW VARIABLES WHERE Variable_name IN ('read_only', 'max_connections', 'wait_timeout', "
    "'idle_transaction_timeout', 'idle_readonly_transaction_timeout', "
    "'idle_write_transaction_timeout', 'tcp_keepalive_time', 'tcp_keepalive_interval', "
    "'tcp_keepalive_probes', 'server_id', 'server_uuid', 'hostname', 'datadir')";
// A server that takes the place of another one differs in one of them. MariaDB has no server_uuid.
constexpr std::string_view identifying[] = {"server_id", "server_uuid", "hostname", "datadir"};
// A row that does not exist is locked by nothing, so that it can be created.
constexpr std::string_view isolation_statement =
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
// UUID_SHORT() consists of the server's id, the second of its start and a counter of 24 bits. A
// step of the server's clock does not change it. Where CONNECTION_ID() is not the id of the
// handshake, a proxy numbers the connections itself.
constexpr std::string_view own_row_query =
    "SELECT UUID_SHORT()>>24,CONNECTION_ID(),"
    "(SELECT HOST FROM information_schema.PROCESSLIST WHERE ID=CONNECTION_ID())";

std::int64_t seconds_of(duration d) noexcept {
  return std::max<std::int64_t>(1, std::chrono::duration_cast<seconds>(d).count());
}

}  // namespace

session::session(session_host& h, const endpoint& e, lane l, std::size_t server) noexcept
    : host_(h), where_(e), lane_(l), server_(server) {}

bool session::open(sql_connector& over, time_point now, failure& why) {
  const auto by = lane_ == lane::renewals ? base::driven_by::thread : base::driven_by::callers;
  connected_at_ = now;
  connection_ = over.connect(server_, *this, by, why);
  return connection_ != nullptr;
}

void session::execute(sql_statement statement, statement_handler& h, time_point now,
                      time_point due) {
  state_ = state::busy;
  handler_ = &h;
  send(std::move(statement), now);
  due_ = due;
}

void session::send(sql_statement statement, time_point now) {
  sent_at_ = now;
  due_ = base::saturating_add(now, where_.op_timeout);
  connection_->execute(std::move(statement));
}

// A renewal does not wait long for a row: others are behind it. Times are those of the server, in
// UTC. A value that does not fit into its column is an error, assignments of one statement are made
// from left to right, and a COMMIT begins no other transaction.
std::string session::settings_statement() const {
  const bool is_pinned = lane_ == lane::pinned;
  std::string out =
      bound("SET SESSION time_zone='+00:00', autocommit=?, sql_mode='STRICT_ALL_TABLES', "
            "completion_type='NO_CHAIN', innodb_lock_wait_timeout=?, lock_wait_timeout=?",
            {std::int64_t{is_pinned ? 0 : 1},
             lane_ == lane::renewals ? 1 : seconds_of(where_.row_wait),
             seconds_of(where_.op_timeout)});
  // A client that is stopped within a transaction would keep its rows locked. MySQL has no such
  // variable, and skips the comment.
  if (lane_ == lane::commands)
    out += bound("/*M! , idle_transaction_timeout=? */", {seconds_of(where_.op_timeout)});
  if (!is_pinned) return out;
  // In a transaction MariaDB counts the idle_* timeouts in place of wait_timeout, even larger ones.
  const std::int64_t idle = seconds_of(where_.idle_timeout);
  return out + bound(", wait_timeout=?/*M! , idle_transaction_timeout=?, "
                     "idle_readonly_transaction_timeout=?, idle_write_transaction_timeout=?*/",
                     {idle, idle, idle, idle});
}

void session::on_open(time_point now, event_queue&) {
  state_ = state::greeting;
  id_ = connection_->id();
  send(settings_statement(), now);
}

void session::on_reply(const sql_reply& r, time_point now, event_queue& events) {
  if (state_ == state::greeting) return on_greeting_reply(r, now, events);
  if (state_ != state::busy) return;
  state_ = state::idle;
  due_ = base::never;
  statement_handler& h = *std::exchange(handler_, nullptr);
  h.on_reply(r, {*this, sent_at_, now, host_.is_final(now), events});
  if (r.error == error::read_only && !planted(mutant::demoted_mysql_kept)) {
    is_read_only_ = true;
    host_.on_demoted(*this, now);
  }
  if (is_idle() && retirement_.code) return refuse(retirement_);
  if (is_idle()) host_.on_free(*this, now, events);
}

void session::on_greeting_reply(const sql_reply& r, time_point now, event_queue& events) {
  // A server that does not list its connections can be used.
  const bool is_needed = greeted_ < 2 || ends_connection(r.error);
  if (!r.is_ok() && is_needed) return refuse(explain(r.error, r.text));
  if (lane_ == lane::pinned && greeted_ == 0 && !std::exchange(has_isolation_, true))
    return send(std::string(isolation_statement), now);
  switch (greeted_++) {
    case 0: return send(std::string(greeting_query), now);
    case 1:
      read_variables(r);
      if (is_read_only_ && !planted(mutant::read_only_mysql_believed))
        return refuse({errc::unavailable,
                       "the server is read-only, as a replica is; name the primary in the URL"});
      return send(std::string(own_row_query), now);
    default: break;
  }
  read_own_row(r);
  was_greeted_ = true;
  state_ = state::idle;
  due_ = base::never;
  host_.on_greeted(*this, now, events);
}

// A server whose TCP keepalive gives up sooner than its idle timeout frees the locks of a cut
// connection sooner.
void session::read_variables(const sql_reply& r) {
  std::int64_t wait = 0, time = 0, interval = 0, probes = 0;
  std::int64_t in_transaction = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const std::string_view name = r.cell(i, 0);
    const std::int64_t number = r.number(i, 1);
    if (name == "read_only") is_read_only_ = r.cell(i, 1) == "ON" || r.cell(i, 1) == "1";
    if (name == "max_connections") max_connections_ = number;
    if (name == "wait_timeout") wait = number;
    if (name.starts_with("idle_") && number > 0) in_transaction = std::min(in_transaction, number);
    if (name == "tcp_keepalive_time") time = number;
    if (name == "tcp_keepalive_interval") interval = number;
    if (name == "tcp_keepalive_probes") probes = number;
    if (std::ranges::find(identifying, name) != std::end(identifying))
      identity_.append(name).append("=").append(r.cell(i, 1)).append(" ");
  }
  if (lane_ == lane::pinned && !planted(mutant::idle_transaction_ignored))
    wait = std::min(wait, in_transaction);
  const std::int64_t kept_alive = time + interval * probes;
  const bool is_shorter = time > 0 && kept_alive < wait && where_.servers[server_].path.empty();
  idle_timeout_ =
      seconds{is_shorter && !planted(mutant::short_keepalive_ignored) ? kept_alive : wait};
}

void session::read_own_row(const sql_reply& r) {
  started_ = r.number(0, 0);
  if (r.number(0, 1) == static_cast<std::int64_t>(id_)) address_ = r.cell(0, 2);
}

void session::retire(failure why) {
  retirement_ = why;
  if (!is_busy()) refuse(std::move(why));
}

void session::refuse(failure why) {
  if (is_idle()) state_ = state::ended;  // it executes nothing any more
  refusal_ = std::move(why);
  due_ = base::never;
  connection_->close();
}

void session::on_closed(failure why, time_point now, event_queue& events) {
  was_cut_ = is_busy();
  state_ = state::ended;
  due_ = base::never;
  if (refusal_.code) why = refusal_;
  host_.on_lost(*this, now);
  if (was_cut_)
    std::exchange(handler_, nullptr)->on_cut(why, {*this, sent_at_, now, false, events});
  host_.on_ended(*this, why, now, events);  // destroys it
}

}  // namespace holdfast::mysql
