// The connections of one client, all of them to one server: the primary of those that its URL names
// (transport_servers.cpp).
//
//   event                         | effects
//   ------------------------------+---------------------------------------------------------------
//   a statement is submitted      | a free connection of its lane executes it; else it is queued,
//                                 | and a connection is opened, up to the bound of the lane
//   a connection is free          | it executes the first statement of the queue. If no other one
//                                 | is free, statements of other rows share the commit
//                                 | (transport_sharing.cpp)
//   a connection is lost          | the outcome of its statement is unknown; the connection is
//                                 | killed by its id until the server no longer knows it
//                                 | (transport_servers.cpp)
//   a reply is overdue            | the connection is given up, as if it was lost
//   a connection cannot be opened | the next attempt follows after a pause, longer each time
//
// While a lost connection may still execute something, no other statement of the commands is sent:
// a closed connection's statement that waits for a row is executed when the row comes free.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "backend/mysql/transport/session.hpp"
#include "backend/mysql/transport/shared_commit.hpp"
#include "io/reactor/client_reactor.hpp"
#include "seam/connection.hpp"

namespace holdfast::mysql {

enum class loss : unsigned char {
  lost,         // a connection that was there
  not_reached,  // an attempt to connect has failed
  refused,      // likewise, and trying again is of no use
};

// What uses the connections. All calls with the client's mutex held.
class transport_user {
 public:
  virtual void on_ready(time_point now, event_queue&) = 0;  // the first connection is greeted
  virtual void on_down(const failure&, loss, time_point now, event_queue&) = 0;  // none is left
  // A lost connection: `is_certain`, the server no longer executes anything of it.
  virtual void on_dead(std::uint64_t id, bool is_certain, time_point now, event_queue&) = 0;
  virtual void on_tick(time_point now, event_queue&) = 0;  // at, or soon after, a tick_by()
  // Whether locks can be requested, after on_ready(); {}: not yet.
  virtual std::optional<failure> opened() const = 0;

 protected:
  ~transport_user() = default;
};

// A claim that wants a connection of its own.
class pin_handler {
 public:
  virtual void on_pinned(session&, time_point now, event_queue&) = 0;
  // There is none, and none can be opened.
  virtual void on_pin_failed(const failure&, bool is_final, time_point now, event_queue&) = 0;
  // It has ended; its last statement, if any, has been answered by on_cut().
  virtual void on_pin_lost(const failure&, time_point now, event_queue&) = 0;

 protected:
  ~pin_handler() = default;
};

// Makes what opens the connections of a client. Both outlive it.
using connector_maker =
    std::function<std::unique_ptr<sql_connector>(io::client_reactor&, const endpoint&)>;

class transport final : private session_host, private io::reactor_user {
 public:
  struct bounds {
    std::size_t commands = 1, pinned = 0;
  };

  // Throws lock_error (unsupported): the environment has no network. `where` and the user outlive
  // it. `over`: empty: libmariadb.
  transport(base::environment&, const endpoint& where, transport_user&, bounds,
            const connector_maker& over = {});
  ~transport();

  // Without the mutex. Waits until locks can be requested. Throws lock_error.
  void open(std::stop_token = {});
  // No event comes any more, and nothing is sent. Called before the user ends.
  void stop() noexcept;
  void forked() noexcept { reactor_.forked(); }
  bool is_forked() const noexcept { return reactor_.is_forked(); }
  bool is_unavailable() const noexcept { return is_unavailable_.load(std::memory_order_relaxed); }

  io::client_reactor& reactor() noexcept { return reactor_; }
  std::mutex& mutex() noexcept { return reactor_.mutex(); }
  base::environment& env() const noexcept { return reactor_.env(); }

  // With the mutex.
  // Statements with the same `order` are executed one after the other; 0: in any order. `orders`:
  // all that count for this one, where there are several; it outlives the statement.
  void submit(lane, sql_statement statement, statement_handler&, time_point now,
              std::size_t order = 0, const std::vector<std::size_t>* orders = nullptr);
  // Over a connection of the renewals. While none can be had, a renewal waits behind the commands'
  // statements instead.
  void submit_renewal(sql_statement statement, statement_handler&, time_point now,
                      std::size_t order = 0);
  // The next statement of a handler whose last one has just been answered by that session.
  void run(session& s, sql_statement statement, statement_handler& h, time_point now) {
    run(s, std::move(statement), h, now, base::saturating_add(now, where_.op_timeout));
  }
  // A connection of its own. Null: on_pinned() or on_pin_failed() follows.
  session* pin(pin_handler&, time_point now);
  void forget_pin(pin_handler&) noexcept;  // it waits no longer
  // On a pinned connection that is idle. `due`: never: it may wait as long as it takes.
  void run(session&, sql_statement statement, statement_handler&, time_point now, time_point due);
  void unpin(session&, time_point now);
  // Gives up a pinned connection: the server ends it, and what it held. on_dead() follows.
  void abandon(session&, time_point now);

  // The server of that connection has become a replica: all connections to it end, and the locks
  // that they hold.
  void on_demoted(session&, time_point now) override;

  // Called by shared commits.
  std::list<shared_commit> take_out(shared_commit&) noexcept;
  // Puts them at the front of the queue. They were not executed.
  void execute_alone(std::vector<queued_statement>, time_point now);
  void pause_sharing(time_point now) noexcept;

  void tick_by(time_point t) { reactor_.wake_by(t); }
  void retry_by(time_point t);  // the pause before the next attempt to connect ends then
  bool is_final(time_point now) const noexcept override;
  time_point out_since() const noexcept { return out_since_; }
  const failure& last_failure() const noexcept { return last_failure_; }
  seam::connection_status read_status() const;
  std::string reason(errc) const;  // of a failure that has no text of its own

 private:
  class first_session;
  struct job : queued_statement {
    pin_handler* pins = nullptr;  // in place of a statement: a claim that wants a connection
  };
  struct member {
    bool is_free() const noexcept { return connection->is_idle() && !is_pinned; }
    void forget_order() noexcept {
      order = 0;
      orders = nullptr;
    }
    std::unique_ptr<session> connection;
    pin_handler* pinned_by = nullptr;
    bool is_pinned = false;
    std::size_t order = 0;  // of the statement that it executes
    const std::vector<std::size_t>* orders = nullptr;
  };
  struct group {  // of a lane
    std::size_t most = 0;
    std::vector<member> members;
    std::deque<job> queue;
    time_point retry_at{};
    unsigned failures = 0;    // in a row
    bool has_failed = false;  // to open one, and nothing has reported it yet
  };
  struct kill {  // of a lost connection
    std::uint64_t id = 0;
    std::size_t server = 0;
    std::string identity, address;  // of its server, and its own there
    std::int64_t started = 0;       // the start of its server
    time_point connected_at{};
    time_point harmless_at{};              // nothing that it has sent arrives later
    time_point tried_until = base::never;  // once a KILL was sent

    time_point until() const noexcept { return std::min(harmless_at, tried_until); }
  };
  enum class kill_step : unsigned char {
    pass,           // nothing is killed: that id may mean another connection
    look_up,        // the address of the connection with that id
    kill,           // it is the lost one
    kill_unlisted,  // the server lists none with that id
  };
  class kill_handler final : public statement_handler {
   public:
    explicit kill_handler(transport& t) noexcept : home_(t) {}
    void on_reply(const sql_reply& r, const reply_context& c) override { home_.on_killed(r, c); }
    void on_cut(const failure&, const reply_context&) override { home_.on_kill_cut(); }

   private:
    transport& home_;
  };

  class probe_handler final : public statement_handler {
   public:
    explicit probe_handler(transport& t) noexcept : home_(t) {}
    void on_reply(const sql_reply&, const reply_context&) override { home_.is_probing_ = false; }
    void on_cut(const failure&, const reply_context&) override { home_.is_probing_ = false; }

   private:
    transport& home_;
  };

  // session_host
  void on_greeted(session&, time_point now, event_queue&) override;
  void on_free(session&, time_point now, event_queue&) override;
  void on_lost(session&, time_point now) override;
  void on_ended(session&, const failure&, time_point now, event_queue&) override;
  // io::reactor_user
  void flush(std::unique_lock<std::mutex>&, base::driven_by) noexcept override {}
  void on_alarm(time_point now, event_queue&) override;
  bool has_unattended_replies() const noexcept override;

  session_host& host() noexcept { return *this; }
  group& of(lane l) noexcept { return groups_[static_cast<std::size_t>(l)]; }
  const group& of(lane l) const noexcept { return groups_[static_cast<std::size_t>(l)]; }
  member* member_of(const session&) noexcept;
  bool has_ready(lane) const noexcept;
  bool has_ready() const noexcept;  // in any lane
  member* free_member(lane) noexcept;
  void drop_unwanted(group&) noexcept;
  static bool may_start(const group&, std::size_t at) noexcept;
  void serve_statements(lane, time_point now);
  void execute(group&, std::size_t at, member&, time_point now);
  static queued_statement take(group&, std::size_t at);
  std::vector<queued_statement> take_sharing(group&, std::size_t at, const queued_statement& first,
                                             time_point now);
  void serve_pins(time_point now, event_queue&);
  void serve(lane, time_point now, event_queue&);
  void fail_pins(const failure&, bool is_final, time_point now, event_queue&);
  static std::size_t startable(const group&);
  bool returns(lane) const noexcept;
  void open_more(lane, time_point now);
  bool open_one(lane, std::size_t server, time_point now, failure& why);
  bool is_choosing() const noexcept { return choose_until_ != base::never; }
  void choose_primary(time_point now);
  void look_at_choice(time_point now, event_queue&);
  void end_choice(const std::vector<session*>& writable, time_point now, event_queue&);
  failure no_primary(const std::vector<session*>& writable) const;
  void leave_primary(time_point now) noexcept;
  static kill_step first_step(const kill&, const session& by) noexcept;
  void send_kill(time_point now);
  void run_kill(session& by, kill_step, time_point now);
  void on_killed(const sql_reply&, const reply_context&);
  void on_looked_up(const sql_reply&, const reply_context&);
  void on_kill_cut() noexcept;
  void finish_kill(bool is_certain, time_point now, event_queue&);
  void add_kill(const session&, time_point now);
  void note_failed(lane, const failure&, time_point now);   // and when to try again
  void note_trouble(lane, const failure&, time_point now);  // to be reported
  void report_failed(lane, bool was_there, time_point now, event_queue&);
  void probe(time_point now);
  void end_overdue(time_point now);
  void note_down(const failure&, time_point now);
  void note_up(time_point now);
  std::string exhausted_text() const;
  failure pin_failure() const;  // the last failure to open a connection for a claim

  io::client_reactor reactor_;
  const endpoint& where_;
  transport_user& user_;
  const std::unique_ptr<sql_connector> over_;
  kill_handler kills_by_{*this};
  probe_handler probed_by_{*this};
  std::array<group, 3> groups_;
  std::list<shared_commit> shared_commits_;
  time_point shares_from_{};               // no commit is shared before
  std::optional<std::size_t> primary_;     // of the endpoint's servers; {}: to be chosen
  time_point choose_until_ = base::never;  // never: no choice is under way
  std::vector<failure> troubles_;          // choosing: why a server is none; by the server
  std::deque<kill> kills_;
  bool is_probing_ = false;                // a probe awaits its reply
  bool is_killing_ = false;                // a statement for the first of them awaits its reply
  kill_step kill_step_ = kill_step::pass;  // of that statement
  time_point unverified_until_{};          // a lost connection may execute something until then
  bool was_ready_ = false;
  std::optional<failure> refused_;  // opening: why no connection can be opened
  time_point out_since_ = base::never;
  time_point failed_at_{};
  failure last_failure_;
  std::uint64_t reconnects_ = 0;
  std::atomic<bool> is_unavailable_{false};
};

}  // namespace holdfast::mysql
