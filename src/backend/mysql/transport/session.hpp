// One connection of a client, from its greeting on: what it executes now, and since when.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "backend/mysql/transport/endpoint.hpp"
#include "backend/mysql/transport/sql_connection.hpp"

namespace holdfast::mysql {

// Each has connections of its own, so that what waits or renews is held up by nothing else.
enum class lane : unsigned char {
  commands,  // statements of any claim, in the order of their submission
  renewals,  // one connection, driven by a thread of this library
  pinned,    // each connection belongs to one claim, while that waits for its lock or holds it
};

class session;

struct reply_context {
  session& on;  // idle: the handler may have it execute the next statement of a transaction
  time_point sent, now;
  // No statement of a connection that was lost can be executed any more.
  bool is_final;
  event_queue& events;
};

// Awaits the reply to a statement. Called with the client's mutex held, once per statement: by one
// of the three.
class statement_handler {
 public:
  // False: nothing awaits it any more. One that was not sent is dropped then.
  virtual bool has_requester() const noexcept { return true; }
  virtual void on_reply(const sql_reply&, const reply_context&) = 0;
  // The connection was lost: the outcome is unknown.
  virtual void on_cut(const failure&, const reply_context&) = 0;
  virtual void on_dropped() noexcept {}

 protected:
  ~statement_handler() = default;
};

class session_host {
 public:
  virtual void on_greeted(session&, time_point now, event_queue&) = 0;
  virtual void on_free(session&, time_point now, event_queue&) = 0;  // the statement has ended
  virtual void on_demoted(session&, time_point now) = 0;  // the server has become a replica
  // Before the statement that it was executing, if any, is answered by on_cut().
  virtual void on_lost(session&, time_point now) = 0;
  virtual void on_ended(session&, const failure&, time_point now, event_queue&) = 0;
  virtual bool is_final(time_point now) const noexcept = 0;  // see reply_context

 protected:
  ~session_host() = default;
};

// All calls with the client's mutex held.
class session final : private connection_events {
 public:
  // `server`: of the endpoint's.
  session(session_host&, const endpoint&, lane, std::size_t server) noexcept;
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // False, with the reason: nothing is opened.
  bool open(sql_connector&, time_point now, failure& why);
  // While it is idle. `due`: when the reply is overdue.
  void execute(sql_statement, statement_handler&, time_point now, time_point due);
  void close() { connection_->close(); }
  void give_up(failure why) { refuse(std::move(why)); }  // closes it for that reason
  void retire(failure why);  // closes it for that reason once no statement is under way

  lane of() const noexcept { return lane_; }
  std::size_t server() const noexcept { return server_; }
  bool is_idle() const noexcept { return state_ == state::idle; }
  bool is_greeted() const noexcept { return state_ == state::idle || state_ == state::busy; }
  bool was_greeted() const noexcept { return was_greeted_; }  // even after its end
  bool was_cut() const noexcept { return was_cut_; }  // it has ended before a statement's reply
  bool is_read_only() const noexcept { return is_read_only_; }  // the server, as it has said last
  bool is_busy() const noexcept { return state_ == state::busy; }
  // Its statement waits for a lock, and not only for its execution.
  bool waits_for_lock(time_point now) const noexcept {
    return is_busy() && due_ > base::saturating_add(now, where_.op_timeout);
  }
  time_point due() const noexcept { return due_; }  // never: nothing is awaited
  std::uint64_t id() const noexcept { return id_; }
  time_point connected_at() const noexcept { return connected_at_; }
  // Identifies the server, and stays the same when it is started again.
  const std::string& identity() const noexcept { return identity_; }
  // The start of the server, as its UUID_SHORT() contains it; 0: unknown.
  std::int64_t started() const noexcept { return started_; }
  // The client's end, as the server lists it: a host and a port, or for a Unix socket a host that
  // all its connections have in common. Empty: the server does not list this connection.
  const std::string& address() const noexcept { return address_; }
  // The server keeps an idle connection at least for so long after its last reply.
  duration idle_timeout() const noexcept { return idle_timeout_; }
  std::int64_t max_connections() const noexcept { return max_connections_; }  // of the server

 private:
  enum class state : unsigned char { opening, greeting, idle, busy, ended };

  // connection_events
  void on_open(time_point now, event_queue&) override;
  void on_reply(const sql_reply&, time_point now, event_queue&) override;
  void on_closed(failure, time_point now, event_queue&) override;

  void send(sql_statement, time_point now);
  void on_greeting_reply(const sql_reply&, time_point now, event_queue&);
  std::string settings_statement() const;
  void read_variables(const sql_reply&);
  void read_own_row(const sql_reply&);
  void refuse(failure);

  session_host& host_;
  const endpoint& where_;
  const lane lane_;
  const std::size_t server_;
  std::unique_ptr<sql_connection> connection_;
  statement_handler* handler_ = nullptr;  // busy: of the statement
  state state_ = state::opening;
  unsigned greeted_ = 0;        // replies of the greeting
  bool has_isolation_ = false;  // requested
  bool was_greeted_ = false, was_cut_ = false;
  bool is_read_only_ = false;
  time_point sent_at_{}, due_ = base::never;
  time_point connected_at_{};
  std::string identity_, address_;
  std::int64_t started_ = 0;
  duration idle_timeout_{};
  std::int64_t max_connections_ = 0;
  std::uint64_t id_ = 0;
  failure refusal_;     // the reason why this client closes it; code {}: it does not
  failure retirement_;  // the reason to close it after the statement under way; code {}: none
};

}  // namespace holdfast::mysql
