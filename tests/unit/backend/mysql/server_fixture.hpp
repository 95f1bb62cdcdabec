// A client of MySQL without a server: the test opens connections, answers statements and moves the
// clock.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/mysql/strategies/strategies.hpp"
#include "tests/unit/io/reactor/played_network.hpp"

namespace holdfast::mysql_unit {

using base::event_queue;
using base::time_point;
using mysql::sql_reply;
using namespace std::chrono_literals;

inline constexpr base::duration idle_timeout = 30s, op_timeout = 5s;

struct scripted_connection_state {
  mysql::connection_events* events = nullptr;  // null: it has ended
  std::uint64_t id = 0;
  std::size_t server = 0;
  base::driven_by by{};
  std::string statement;  // that awaits its reply
  bool closes = false;
};

class scripted_connector final : public mysql::sql_connector {
 public:
  using state = scripted_connection_state;
  // While the refusal has a code, no connection is begun.
  explicit scripted_connector(std::vector<std::shared_ptr<state>>& all,
                              const base::failure* refusal = nullptr, bool* is_stopped = nullptr)
      : all_(all), refusal_(refusal), is_stopped_(is_stopped) {}
  std::unique_ptr<mysql::sql_connection> connect(std::size_t server, mysql::connection_events& e,
                                                 base::driven_by by, base::failure& why) override {
    if (refusal_ && refusal_->code) return why = *refusal_, nullptr;
    auto made = std::make_shared<state>();
    made->server = server;
    made->by = by;
    made->events = &e;
    made->id = 100 + all_.size();
    all_.push_back(made);
    return std::make_unique<connection>(made);
  }
  void stop() noexcept override {
    if (is_stopped_) *is_stopped_ = true;
  }

 private:
  class connection final : public mysql::sql_connection {
   public:
    explicit connection(std::shared_ptr<state> s) : state_(std::move(s)) {}
    ~connection() override { state_->events = nullptr; }
    void execute(mysql::sql_statement s) override { state_->statement = s.text(); }
    void close() override { state_->closes = true; }
    std::uint64_t id() const noexcept override { return state_->id; }

   private:
    const std::shared_ptr<state> state_;
  };
  std::vector<std::shared_ptr<state>>& all_;
  const base::failure* const refusal_;
  bool* const is_stopped_;
};

inline sql_reply rows(std::initializer_list<mysql::sql_row> all) {
  sql_reply out;
  out.rows = all;
  return out;
}
inline sql_reply error(unsigned number) {
  sql_reply out;
  out.error = number;
  out.text = "the server's words";
  return out;
}
inline sql_reply granted_row(std::uint64_t number) {
  sql_reply out;
  out.affected = 1;
  out.insert_id = number;
  return out;
}
// The replies to SET TRANSACTION and START TRANSACTION, then `replies`, then that to COMMIT.
inline sql_reply committed(std::vector<sql_reply> replies) {
  sql_reply out;
  out.earlier.resize(2);
  out.earlier.insert(out.earlier.end(), replies.begin(), replies.end());
  return out;
}
// The same, but the last statement failed.
inline sql_reply failed(std::vector<sql_reply> replies, unsigned number) {
  sql_reply out = error(number);
  out.earlier = committed(std::move(replies)).earlier;
  return out;
}

// What a connection reads of itself when it is greeted.
struct own_row {
  std::string started = "7";             // the start of the server
  std::optional<std::string> address{};  // {}: the server does not list it
};

class told : public seam::claim_sink {
 public:
  virtual ~told() = default;
  void on_granted(const seam::grant& g) override {
    last = g;
    words += "granted ";
  }
  void on_refused(base::failure why) override {
    words += "refused:" + why.code.message() + ' ';
    reason = why.text;
  }
  void on_extended(time_point deadline, std::uint32_t by) override {
    last.deadline = deadline;
    ticket = by;
    words += "extended ";
  }
  void on_doubtful() override { words += "doubtful "; }
  void on_lost(std::error_code why) override {
    words += "lost ";
    lost_by = why;
  }
  void on_contended() override { words += "contended "; }
  void on_ended(base::failure why) override {
    words += why.code ? "ended:" + why.code.message() + ' ' : "ended ";
    reason = why.text;
  }
  std::string take() { return std::exchange(words, {}); }

  seam::grant last;
  std::uint32_t ticket = 0;  // of the renewal that extended the lease last
  std::error_code lost_by;
  std::string words, reason;
};

class server_fixture {
 public:
  static mysql::settings settings_of(const std::string& strategy, std::size_t servers = 1) {
    mysql::settings out;
    out.strategy = strategy;
    out.table = "locks";
    out.database = "test";
    for (std::size_t i = 0; i < servers; ++i)
      out.servers.push_back({"server" + std::to_string(i), 3306, {}});
    out.connections = 4;
    out.idle_timeout = idle_timeout;
    out.row_wait = 7s;
    out.retry_base = 50ms;
    out.op_timeout = out.connect_timeout = out.rules.op_timeout = op_timeout;
    out.text = "mysql://server/test";
    out.records = {.key = "resource",
                   .type = {},
                   .note = "description",
                   .owner = "owner",
                   .count = "count",
                   .update_time = "update_time",
                   .lease = "lease_ms",
                   .type_value = "lock"};
    return out;
  }
  // Statements wait for the only connection.
  static mysql::settings with_one_connection(const std::string& strategy) {
    mysql::settings out = settings_of(strategy);
    out.connections = 1;
    return out;
  }
  explicit server_fixture(const std::string& strategy, std::size_t servers = 1)
      : server_fixture(settings_of(strategy, servers)) {}
  explicit server_fixture(mysql::settings settings)
      : terms(std::move(settings)),
        s(mysql::make_strategy(net, terms)),
        over(net, terms, *s, s->connections(), [this](io::client_reactor&, const auto&) {
          return std::make_unique<scripted_connector>(connections, &refusal, &is_stopped);
        }) {
    const std::lock_guard guard(over.mutex());
    s->attach(over);
  }
  ~server_fixture() {
    lock.reset();
    over.stop();
    const std::lock_guard guard(over.mutex());
    s->detach();
  }

  // Opens the client, and a claim on "job". Of several servers the first is the primary.
  void open(const own_row& own = {}) {
    net.while_blocked = [&] {
      greet(0, {"read_only", "OFF"}, own);
      for (std::size_t i = 1; i < terms.servers.size(); ++i) greet(i, {"read_only", "ON"});
      close_requested();
      while (connections[0]->statement.starts_with("SELECT name")) reply(0, {});
      if (awaits(0, "SELECT ENGINE")) reply(0, rows({{"InnoDB", "name varbinary"}}));
    };
    over.open();
    lock = s->open("job", sink);
  }
  struct opening {
    errc code{};             // of the refusal
    std::string sent, text;  // the beginnings of the statements; the refusal's text
  };
  // Opens the client with these replies to its statements.
  opening open_with(std::vector<sql_reply> replies) {
    opening out;
    net.while_blocked = [&] {
      if (statement(0).empty()) greet(0);
      for (const sql_reply& r : std::exchange(replies, {})) {
        out.sent += statement(0).substr(0, 6) + ' ';
        reply(0, r);
      }
    };
    try {
      over.open();
    } catch (const lock_error& e) {
      out.text = e.detail();
      out.code = static_cast<errc>(e.code().value());
    }
    return out;
  }
  void greet(std::size_t i, const mysql::sql_row& extra = {"read_only", "OFF"},
             const own_row& own = {}) {
    run([&](time_point now, event_queue& e) { connections[i]->events->on_open(now, e); });
    reply(i, {});
    if (awaits(i, "ISOLATION LEVEL")) reply(i, {});
    reply(i, rows({{"wait_timeout", "30"}, extra}));
    if (connections[i]->statement.starts_with("SELECT UUID_SHORT()"))
      reply(i, rows({{own.started, std::to_string(connections[i]->id), own.address}}));
  }
  void reply(std::size_t i, const sql_reply& r) {
    connections[i]->statement.clear();
    run([&](time_point now, event_queue& e) {
      if (connections[i]->events) connections[i]->events->on_reply(r, now, e);
    });
  }
  void cut(std::size_t i, const std::string& why = "reset") {
    run([&](time_point now, event_queue& e) {
      connections[i]->statement.clear();
      connections[i]->events->on_closed({errc::unavailable, why}, now, e);
    });
  }
  // Carries out each close() that was requested.
  void close_requested() {
    for (std::size_t i = 0; i < connections.size(); ++i)
      if (connections[i]->closes && connections[i]->events) cut(i);
  }
  void pass(base::duration d) { net.time.advance(d); }
  const std::string& statement(std::size_t i) const { return connections.at(i)->statement; }
  bool awaits(std::size_t i, std::string_view part) const {
    return i < connections.size() && statement(i).find(part) != std::string::npos;
  }
  void acquire(bool one_attempt = true) {
    lock->acquire({.one_attempt = one_attempt, .ttl = 30s, .at = net.now()});
  }
  void acquire_shared() {
    lock->acquire({.one_attempt = true, .ttl = 30s, .mode = lock_mode::shared, .at = net.now()});
  }
  void acquire_permits(std::uint32_t permits, std::uint32_t total) {
    lock->acquire({.one_attempt = true,
                   .ttl = 30s,
                   .mode = lock_mode::permit,
                   .permits = permits,
                   .total_permits = total,
                   .at = net.now()});
  }
  time_point now() { return net.now(); }
  template <class Event>
  void run(Event event) {
    over.reactor().run(event);
  }

  io::reactor_tests::played_network net;
  std::vector<std::shared_ptr<scripted_connection_state>> connections;
  base::failure refusal;    // of the connector
  bool is_stopped = false;  // the connector
  const mysql::settings terms;
  std::unique_ptr<mysql::strategy> s;
  mysql::transport over;
  told sink;
  std::unique_ptr<seam::claim> lock;
};

struct several_claims {
  std::vector<std::unique_ptr<told>> sinks;
  std::vector<std::unique_ptr<seam::claim>> claims;
};
// On "lock0" and so on, each with one attempt; after(): the test goes on after each.
template <class After>
several_claims acquire_several(server_fixture& t, std::size_t count, After after) {
  several_claims out;
  for (std::size_t i = 0; i < count; ++i) {
    out.sinks.push_back(std::make_unique<told>());
    out.claims.push_back(t.s->open("lock" + std::to_string(i), *out.sinks.back()));
    out.claims.back()->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    after();
  }
  return out;
}

}  // namespace holdfast::mysql_unit
