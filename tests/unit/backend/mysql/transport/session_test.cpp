// One connection: its greeting, what it reads of the server, and its end.
#include "backend/mysql/transport/session.hpp"

#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

using mysql::lane;
using mysql::session;

class noted_host final : public mysql::session_host {
 public:
  void on_greeted(session&, time_point, event_queue&) override { words += "greeted "; }
  void on_free(session&, time_point, event_queue&) override { words += "free "; }
  void on_demoted(session&, time_point) override { words += "demoted "; }
  void on_lost(session&, time_point) override { words += "lost "; }
  void on_ended(session&, const base::failure& why, time_point, event_queue&) override {
    words += "ended ";
    reason = why.text;
  }
  bool is_final(time_point) const noexcept override { return true; }
  std::string take() { return std::exchange(words, {}); }

  std::string words, reason;
};

class noted_handler final : public mysql::statement_handler {
 public:
  void on_reply(const sql_reply& r, const mysql::reply_context& c) override {
    words += "reply:" + std::to_string(r.affected) + (c.is_final ? ":final " : " ");
    sent = c.sent;
  }
  void on_cut(const base::failure& why, const mysql::reply_context&) override {
    words += "cut:" + why.text + ' ';
  }
  std::string take() { return std::exchange(words, {}); }

  std::string words;
  time_point sent;
};

class mysql_session : public testing::Test {
 protected:
  mysql_session() {
    where.servers = {{"h", 3306, {}}};
    where.row_wait = 7s;
    where.op_timeout = op_timeout;
    where.idle_timeout = idle_timeout;
  }
  session& open(lane l) {
    made = std::make_unique<session>(host, where, l, 0);
    base::failure why;
    EXPECT_TRUE(made->open(connector, now, why));
    state().events->on_open(now, events);
    return *made;
  }
  // Greeted by a server with these variables.
  session& greet(lane l, std::vector<mysql::sql_row> variables = {{"wait_timeout", "600"}}) {
    session& s = open(l);
    reply({});
    if (l == lane::pinned) reply({});
    sql_reply of_server;
    of_server.rows = std::move(variables);
    reply(of_server);
    if (statement() == own_row_query) reply(rows({{"7", "100", "client:1"}}));
    return s;
  }
  // The server has replied to the rest of the greeting.
  session& await_own_row() {
    session& s = open(lane::commands);
    reply({});
    reply(rows({{"wait_timeout", "600"}}));
    EXPECT_EQ(statement(), own_row_query);
    return s;
  }
  void reply(const sql_reply& r) {
    state().statement.clear();
    state().events->on_reply(r, now, events);
  }
  scripted_connection_state& state() { return *connections.back(); }
  const std::string& statement() { return state().statement; }
  void close(const std::string& why = "reset") {
    state().events->on_closed({errc::unavailable, why}, now, events);
  }

  static constexpr const char* own_row_query =
      "SELECT UUID_SHORT()>>24,CONNECTION_ID(),"
      "(SELECT HOST FROM information_schema.PROCESSLIST WHERE ID=CONNECTION_ID())";
  mysql::endpoint where;
  noted_host host;
  noted_handler handler;
  event_queue events;
  time_point now = time_point{} + 1000s;
  std::vector<std::shared_ptr<scripted_connection_state>> connections;
  scripted_connector connector{connections};
  std::unique_ptr<session> made;
};

TEST_F(mysql_session, of_the_commands_commits_each_statement_and_bounds_its_transactions) {
  open(lane::commands);
  EXPECT_EQ(statement(),
            "SET SESSION time_zone='+00:00', autocommit=1, sql_mode='STRICT_ALL_TABLES', "
            "completion_type='NO_CHAIN', innodb_lock_wait_timeout=7, lock_wait_timeout=5/*M! , "
            "idle_transaction_timeout=5 */");
}

TEST_F(mysql_session, of_the_renewals_waits_one_second_for_a_row) {
  open(lane::renewals);
  EXPECT_EQ(statement(),
            "SET SESSION time_zone='+00:00', autocommit=1, sql_mode='STRICT_ALL_TABLES', "
            "completion_type='NO_CHAIN', innodb_lock_wait_timeout=1, lock_wait_timeout=5");
}

// No caller waits for the reply to a renewal.
TEST_F(mysql_session, of_the_renewals_alone_has_a_thread) {
  const std::pair<lane, base::driven_by> drivers[] = {{lane::commands, base::driven_by::callers},
                                                      {lane::renewals, base::driven_by::thread},
                                                      {lane::pinned, base::driven_by::callers}};
  for (const auto& [of, by] : drivers) {
    open(of);
    EXPECT_EQ(state().by, by) << static_cast<int>(of);
  }
}

TEST_F(mysql_session, of_a_claim_stays_in_its_transaction_for_the_idle_timeout) {
  open(lane::pinned);
  EXPECT_EQ(
      statement(),
      "SET SESSION time_zone='+00:00', autocommit=0, sql_mode='STRICT_ALL_TABLES', "
      "completion_type='NO_CHAIN', innodb_lock_wait_timeout=7, lock_wait_timeout=5, wait_timeout=30"
      "/*M! , idle_transaction_timeout=30, idle_readonly_transaction_timeout=30, "
      "idle_write_transaction_timeout=30*/");
}

TEST_F(mysql_session, sets_no_timeout_below_one_second) {
  where.row_wait = 400ms;
  open(lane::commands);
  EXPECT_NE(statement().find("innodb_lock_wait_timeout=1,"), std::string::npos) << statement();
}

TEST_F(mysql_session, is_greeted_after_its_settings_the_variables_and_its_own_row) {
  session& s = open(lane::commands);
  EXPECT_EQ(s.id(), 100u);
  EXPECT_EQ(s.connected_at(), now);
  EXPECT_EQ(s.due(), now + op_timeout);
  reply({});
  EXPECT_TRUE(statement().starts_with("SHOW VARIABLES WHERE")) << statement();
  reply(rows({{"wait_timeout", "600"}, {"max_connections", "151"}}));
  EXPECT_EQ(statement(), own_row_query);
  EXPECT_FALSE(s.is_greeted());
  reply(rows({{"7", "100", "client:1"}}));
  EXPECT_EQ(host.take(), "greeted ");
  EXPECT_TRUE(s.is_idle() && s.is_greeted() && s.was_greeted() && !s.is_busy());
  EXPECT_EQ(s.started(), 7);
  EXPECT_EQ(s.address(), "client:1");
  EXPECT_EQ(s.max_connections(), 151);
  EXPECT_EQ(s.due(), base::never);
}

TEST_F(mysql_session, has_no_address_where_the_server_does_not_list_it) {
  session& s = await_own_row();
  reply(rows({{"7", "100", std::nullopt}}));
  EXPECT_EQ(s.started(), 7);
  EXPECT_EQ(s.address(), "");
}

TEST_F(mysql_session, has_no_address_behind_a_proxy_with_ids_of_its_own) {
  session& s = await_own_row();
  reply(rows({{"7", "5", "proxy:1"}}));
  EXPECT_EQ(s.address(), "");
}

TEST_F(mysql_session, is_greeted_by_a_server_that_lists_no_connections) {
  session& s = await_own_row();
  reply(error(1109));
  EXPECT_EQ(host.take(), "greeted ");
  EXPECT_EQ(s.started(), 0);
  EXPECT_EQ(s.address(), "");
}

TEST_F(mysql_session, is_not_greeted_by_a_server_that_ends_it_meanwhile) {
  (void)await_own_row();
  reply(error(1927));
  EXPECT_TRUE(state().closes);
  EXPECT_EQ(host.take(), "");
}

TEST_F(mysql_session, has_the_identity_of_its_server) {
  EXPECT_EQ(greet(lane::commands, {{"server_id", "3"}, {"hostname", "db"}}).identity(),
            "server_id=3 hostname=db ");
  EXPECT_EQ(greet(lane::commands).identity(), "");
}

TEST_F(mysql_session, of_a_claim_reads_committed_rows_alone) {
  open(lane::pinned);
  reply({});
  EXPECT_EQ(statement(), "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  reply({});
  EXPECT_TRUE(statement().starts_with("SHOW VARIABLES WHERE")) << statement();
}

TEST_F(mysql_session, closes_the_connection_to_a_read_only_server) {
  for (const char* const value : {"ON", "1"}) {
    session& s = greet(lane::commands, {{"read_only", value}});
    EXPECT_TRUE(s.is_read_only() && state().closes) << value;
    close();
    EXPECT_EQ(host.take(), "lost ended ");
    EXPECT_NE(host.reason.find("the server is read-only"), std::string::npos) << host.reason;
  }
  for (const char* const value : {"OFF", "0"}) {
    greet(lane::commands, {{"read_only", value}});
    EXPECT_EQ(host.take(), "greeted ") << value;
  }
}

TEST_F(mysql_session, ends_with_the_reason_of_a_refused_greeting) {
  open(lane::commands);
  reply(error(1142));
  EXPECT_TRUE(state().closes);
  EXPECT_EQ(made->due(), base::never);
  close();
  EXPECT_NE(host.reason.find("grant this user SELECT"), std::string::npos) << host.reason;
}

TEST_F(mysql_session, of_a_claim_is_idle_for_the_shortest_timeout_of_the_server) {
  const std::vector<mysql::sql_row> variables = {{"wait_timeout", "600"},
                                                 {"idle_transaction_timeout", "9"},
                                                 {"idle_readonly_transaction_timeout", "4"},
                                                 {"idle_write_transaction_timeout", "0"}};
  EXPECT_EQ(greet(lane::pinned, variables).idle_timeout(), 4s) << "0 is none";
  EXPECT_EQ(greet(lane::commands, variables).idle_timeout(), 600s) << "it has no transaction";
}

TEST_F(mysql_session, is_idle_no_longer_than_the_keepalive_of_the_server) {
  const auto idle_with = [&](const char* time, const char* interval, const char* probes) {
    return greet(lane::commands, {{"wait_timeout", "600"},
                                  {"tcp_keepalive_time", time},
                                  {"tcp_keepalive_interval", interval},
                                  {"tcp_keepalive_probes", probes}})
        .idle_timeout();
  };
  EXPECT_EQ(idle_with("60", "5", "3"), 75s);
  EXPECT_EQ(idle_with("600", "5", "3"), 600s) << "it gives up later";
  EXPECT_EQ(idle_with("0", "5", "3"), 600s) << "it is that of the system";
  where.servers[0].path = "/run/mysqld/mysqld.sock";
  EXPECT_EQ(idle_with("60", "5", "3"), 600s) << "a Unix socket has none";
}

TEST_F(mysql_session, executes_one_statement_and_is_free_again) {
  session& s = greet(lane::commands);
  (void)host.take();
  const time_point sent = now;
  s.execute("SELECT 1", handler, now, now + 3s);
  EXPECT_EQ(statement(), "SELECT 1");
  EXPECT_TRUE(s.is_busy() && s.is_greeted() && !s.is_idle());
  EXPECT_EQ(s.due(), now + 3s);
  now += 1s;
  reply(granted_row(1));
  EXPECT_EQ(handler.take(), "reply:1:final ");
  EXPECT_EQ(handler.sent, sent);
  EXPECT_EQ(host.take(), "free ");
  EXPECT_TRUE(s.is_idle());
  EXPECT_EQ(s.due(), base::never);
  reply(granted_row(1));
  EXPECT_EQ(handler.take(), "") << "no statement awaits it";
}

TEST_F(mysql_session, reports_a_server_that_has_become_a_replica) {
  session& s = greet(lane::commands);
  s.execute("UPDATE", handler, now, now + 3s);
  (void)host.take();
  reply(error(1290));
  EXPECT_TRUE(s.is_read_only());
  EXPECT_EQ(host.take(), "demoted free ");
}

TEST_F(mysql_session, that_is_retired_ends_after_its_statement) {
  session& s = greet(lane::commands);
  s.execute("UPDATE", handler, now, now + 3s);
  (void)host.take();
  s.retire({errc::unavailable, "it was retired"});
  EXPECT_FALSE(state().closes);
  reply(granted_row(1));
  EXPECT_EQ(handler.take(), "reply:1:final ");
  EXPECT_TRUE(state().closes);
  EXPECT_FALSE(s.is_idle());
  close();
  EXPECT_EQ(host.take(), "lost ended ") << "it was not free in between";
  EXPECT_EQ(host.reason, "it was retired");
  EXPECT_FALSE(s.was_cut());
}

TEST_F(mysql_session, that_is_retired_while_idle_ends_at_once) {
  session& s = greet(lane::commands);
  s.retire({errc::unavailable, "it was retired"});
  EXPECT_TRUE(state().closes);
  EXPECT_FALSE(s.is_idle());
}

TEST_F(mysql_session, that_is_closed_within_a_statement_has_it_cut) {
  session& s = greet(lane::commands);
  s.execute("UPDATE", handler, now, now + 3s);
  (void)host.take();
  close("reset by the network");
  EXPECT_EQ(handler.take(), "cut:reset by the network ");
  EXPECT_EQ(host.take(), "lost ended ");
  EXPECT_TRUE(s.was_cut() && s.was_greeted());
  EXPECT_FALSE(s.is_busy());
  EXPECT_EQ(s.due(), base::never);
}

TEST_F(mysql_session, that_is_given_up_has_its_statement_cut_for_that_reason) {
  session& s = greet(lane::commands);
  s.execute("UPDATE", handler, now, now + 3s);
  s.give_up({errc::unavailable, "the server does not answer"});
  EXPECT_TRUE(state().closes);
  EXPECT_EQ(s.due(), base::never);
  close();
  EXPECT_EQ(handler.take(), "cut:the server does not answer ");
}

}  // namespace
}  // namespace holdfast::mysql_unit
