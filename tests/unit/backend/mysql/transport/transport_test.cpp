#include "backend/mysql/transport/transport.hpp"

#include "testkit/heard_warnings.hpp"
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

std::string refusal_of(server_fixture& t) {
  try {
    t.over.open();
    ADD_FAILURE() << "it was opened";
  } catch (const lock_error& refused) {
    EXPECT_EQ(refused.code(), errc::unavailable);
    return refused.what();
  }
  return {};
}

TEST(mysql_transport, a_read_only_server_is_refused) {
  server_fixture t("row");
  t.net.while_blocked = [&] {
    t.greet(0, {"read_only", "ON"});
    t.close_requested();
  };
  EXPECT_THROW(t.over.open(), lock_error);
}

TEST(mysql_transport, a_lost_connection_is_killed_until_the_server_no_longer_knows_it) {
  server_fixture t("row");
  t.open();
  t.acquire();
  ASSERT_TRUE(t.awaits(0, "UPDATE"));
  t.cut(0);
  t.greet(1);
  EXPECT_EQ(t.statement(1), "KILL 100");
  t.reply(1, {});
  EXPECT_EQ(t.statement(1), "KILL 100") << "KILL returns before the thread has ended";
  t.reply(1, error(1094));
  EXPECT_TRUE(t.awaits(1, "UPDATE")) << "the attempt is repeated under its owner";
  t.reply(1, granted_row(5));
  EXPECT_EQ(t.sink.take(), "granted ");
}

// While the server is away, no KILL can be sent.
TEST(mysql_transport, an_outage_takes_no_time_from_the_kills_after_it) {
  server_fixture t("row");
  t.open();
  t.acquire();
  ASSERT_TRUE(t.awaits(0, "UPDATE"));
  t.cut(0);
  t.pass(3 * op_timeout);
  EXPECT_NE(t.sink.take(), "") << "the attempt is given up";
  t.close_requested();
  const std::size_t last = t.connections.size() - 1;
  t.greet(last);
  EXPECT_EQ(t.statement(last), "KILL 100");
  t.reply(last, {});
  EXPECT_EQ(t.statement(last), "KILL 100");
  t.reply(last, error(1094));
  EXPECT_TRUE(t.awaits(last, "UPDATE")) << "the withdrawal";
  EXPECT_FALSE(t.s->is_settled());
  t.reply(last, {});
  EXPECT_TRUE(t.s->is_settled());
}

TEST(mysql_transport, a_connection_that_was_lost_while_idle_is_opened_anew) {
  server_fixture t("named");
  t.open();
  t.cut(0);
  EXPECT_TRUE(t.over.is_unavailable());
  ASSERT_EQ(t.connections.size(), 2u);
  t.greet(1);
  EXPECT_FALSE(t.over.is_unavailable());
}

TEST(mysql_transport, statements_that_follow_each_other_need_no_second_connection) {
  server_fixture t("row");
  t.open();
  told other;
  const auto second = t.s->open("job", other);
  t.acquire_shared();
  second->acquire({.one_attempt = true, .ttl = 30s, .mode = lock_mode::shared, .at = t.now()});
  EXPECT_TRUE(t.awaits(0, "START TRANSACTION"));
  EXPECT_EQ(t.connections.size(), 1u);
  t.pass(op_timeout + 1s);  // both are given up
  t.close_requested();
}

TEST(mysql_transport, an_overdue_statement_ends_with_its_connection) {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.pass(op_timeout + 1ms);
  EXPECT_TRUE(t.connections[0]->closes);
}

// The connection of the commands was not in use, and is not opened again.
TEST(mysql_transport, a_reply_ends_an_outage_that_an_overdue_renewal_began) {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.reply(0, granted_row(1));
  t.lock->renew(30s, 1);
  t.greet(1);
  ASSERT_TRUE(t.awaits(1, "UPDATE"));
  t.pass(op_timeout + 1ms);
  EXPECT_TRUE(t.connections[1]->closes);
  EXPECT_TRUE(t.over.is_unavailable());
  t.lock->release(nullptr);
  t.reply(0, granted_row(1));
  EXPECT_FALSE(t.over.is_unavailable());
  t.close_requested();
}

// Connections 0 and 1 are to the servers of these numbers.
TEST(mysql_transport, of_several_servers_the_one_that_takes_writes_is_used) {
  server_fixture t("row", 2);
  t.net.while_blocked = [&] {
    t.greet(0, {"read_only", "ON"});
    t.greet(1);
    EXPECT_TRUE(t.connections[0]->closes);
    t.close_requested();
    while (t.awaits(1, "SELECT name")) t.reply(1, {});
  };
  t.over.open();
  t.lock = t.s->open("job", t.sink);
  t.acquire();
  EXPECT_TRUE(t.awaits(1, "UPDATE"));
}

TEST(mysql_transport, no_server_is_used_where_two_take_writes) {
  server_fixture t("row", 2);
  t.net.while_blocked = [&] {
    t.greet(0);
    t.greet(1);
    t.close_requested();
  };
  const std::string text = refusal_of(t);
  EXPECT_NE(text.find("server0:3306 and server1:3306 both accept writes"), text.npos) << text;
}

TEST(mysql_transport, a_silent_server_delays_the_choice_and_no_more) {
  server_fixture t("row", 3);
  bool is_open = false;
  t.net.while_blocked = [&] {
    if (std::exchange(is_open, true)) return;
    t.greet(0);
    t.greet(1, {"read_only", "ON"});
    t.close_requested();
    EXPECT_EQ(t.statement(0), "") << "the third one may take writes too";
    t.pass(op_timeout / 4);
    while (t.awaits(0, "SELECT name")) t.reply(0, {});
  };
  t.over.open();
  EXPECT_TRUE(t.connections[2]->closes);
}

TEST(mysql_transport, servers_of_which_none_can_be_used_are_all_named) {
  server_fixture t("row", 2);
  t.net.while_blocked = [&] {
    t.greet(0, {"read_only", "ON"});
    t.close_requested();
    t.cut(1, "nobody listens");
  };
  const std::string text = refusal_of(t);
  EXPECT_NE(text.find("server0:3306: the server is read-only"), text.npos) << text;
  EXPECT_NE(text.find("server1:3306: nobody listens"), text.npos) << text;
}

TEST(mysql_transport, servers_that_refuse_for_one_reason_are_a_refusal) {
  for (const errc second : {errc::refused, errc::unavailable}) {
    server_fixture t("row", 2);
    const auto end = [&](std::size_t i, errc why) {
      t.run([&](time_point now, event_queue& e) {
        t.connections[i]->events->on_closed({why, "denied"}, now, e);
      });
    };
    t.net.while_blocked = [&] {
      end(0, errc::refused);
      end(1, second);
    };
    try {
      t.over.open();
      ADD_FAILURE() << "it was opened";
    } catch (const lock_error& e) {
      EXPECT_EQ(e.code(), second);
    }
  }
}

TEST(mysql_transport, another_server_is_chosen_when_the_primary_becomes_read_only) {
  server_fixture t("row", 2);
  t.open();
  t.acquire(false);
  t.reply(0, error(1290));
  EXPECT_TRUE(t.connections[0]->closes);
  t.close_requested();
  t.pass(1s);
  ASSERT_EQ(t.connections.size(), 4u);
  t.greet(2, {"read_only", "ON"});
  t.greet(3);
  t.close_requested();
  EXPECT_TRUE(t.awaits(3, "UPDATE")) << t.statement(3) << " / " << t.sink.take();
}

TEST(mysql_transport, another_server_is_chosen_when_the_primary_is_lost) {
  server_fixture t("row", 2);
  t.open();
  t.acquire();
  t.cut(0);
  ASSERT_EQ(t.connections.size(), 4u);
  t.cut(2, "nobody listens");
  t.greet(3);
  EXPECT_EQ(t.statement(3), "DO 0") << "the id of the lost connection means another one here";
  t.reply(3, {});
  EXPECT_TRUE(t.awaits(3, "UPDATE"));
}

TEST(mysql_transport, a_connection_that_cannot_be_killed_is_not_killed_again) {
  server_fixture t("row");
  t.open();
  t.acquire();
  t.cut(0);
  t.greet(1);
  ASSERT_EQ(t.statement(1), "KILL 100");
  t.reply(1, error(1095));
  ASSERT_TRUE(t.awaits(1, "UPDATE"));
  t.reply(1, granted_row(5));
}

TEST(mysql_transport, a_connection_is_killed_for_twice_the_op_timeout_at_most) {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.cut(0);
  t.greet(1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(t.statement(1), "KILL 100") << i;
    t.pass(3s);
    t.reply(1, {});
  }
  EXPECT_EQ(t.statement(1), "KILL 100") << "9 s have passed";
  t.pass(1s);
  t.reply(1, {});
  EXPECT_FALSE(t.awaits(1, "KILL"));
  t.pass(op_timeout + 1s);
  t.close_requested();
}

TEST(mysql_transport, the_pause_before_each_further_attempt_to_connect_is_doubled) {
  server_fixture t("row");
  t.open();
  t.cut(0);
  EXPECT_EQ(t.connections.size(), 2u) << "the first attempt follows at once";
  for (const base::duration pause : {100ms, 200ms, 400ms, 800ms, 1600ms, 2000ms, 2000ms}) {
    const std::size_t made = t.connections.size();
    t.cut(made - 1, "nobody listens");
    t.pass(pause * 3 / 4 - 1ms);
    EXPECT_EQ(t.connections.size(), made) << pause / 1ms;
    t.pass(pause / 2 + 2ms);
    ASSERT_EQ(t.connections.size(), made + 1) << pause / 1ms;
  }
  const std::size_t made = t.connections.size();
  t.greet(made - 1);
  t.cut(made - 1);
  EXPECT_EQ(t.connections.size(), made + 1) << "after a connection the pauses begin again";
}

TEST(mysql_transport, a_server_that_refuses_for_good_is_connected_to_by_demand_alone) {
  for (const errc why : {errc::refused, errc::unsupported, errc::bad_option, errc::mismatch}) {
    server_fixture t("row");
    t.open();
    t.cut(0);
    const auto refuse = [&] {
      t.run([&](time_point now, event_queue& e) {
        t.connections.back()->events->on_closed({why, "denied"}, now, e);
      });
    };
    ASSERT_EQ(t.connections.size(), 2u);
    refuse();
    t.pass(10s);
    EXPECT_EQ(t.connections.size(), 2u) << make_error_code(why).message();
    t.acquire(false);
    ASSERT_EQ(t.connections.size(), 3u);
    refuse();
    EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(why).message() + ' ');
  }
}

TEST(mysql_transport, a_retry_that_is_due_now_ends_the_pause) {
  server_fixture t("row");
  t.open();
  for (std::size_t i = 0; i < 4; ++i) {
    t.cut(t.connections.size() - 1);
    t.run([&](time_point now, event_queue&) { t.over.retry_by(now); });
    t.pass(1ms);
    EXPECT_EQ(t.connections.size(), i + 2);
  }
}

// Many callers with a short bound would keep a client away from a server that is back.
TEST(mysql_transport, attempts_out_of_turn_do_not_make_the_pause_longer) {
  server_fixture t("row");
  t.open();
  t.cut(0);
  for (std::size_t made = 2; made < 6; ++made) {
    t.cut(made - 1);
    t.run([&](time_point now, event_queue&) { t.over.retry_by(now); });
    t.pass(1ms);
    ASSERT_EQ(t.connections.size(), made + 1);
  }
  t.cut(5);
  t.pass(2 * t.terms.retry_base * 5 / 4);
  EXPECT_EQ(t.connections.size(), 7u) << "as after the second failure";
}

TEST(mysql_transport, that_is_stopped_ends_its_attempts_to_connect) {
  server_fixture t("row");
  t.over.stop();
  EXPECT_TRUE(t.is_stopped);
}

// The threads of the attempts do not exist there.
TEST(mysql_transport, that_is_stopped_in_the_child_of_a_fork_awaits_no_attempt) {
  server_fixture t("row");
  t.over.forked();
  t.over.stop();
  EXPECT_FALSE(t.is_stopped);
}

TEST(mysql_transport, a_lost_connection_and_its_return_are_reported_and_logged) {
  testkit::heard_warnings heard;
  server_fixture t("row");
  t.open();
  const auto status = [&] {
    const std::lock_guard guard(t.over.mutex());
    return t.over.read_status();
  };
  EXPECT_TRUE(status().connected);
  EXPECT_EQ(status().last_failure, "");
  EXPECT_EQ(status().reconnects, 0u);
  t.cut(0, "reset by the network");
  EXPECT_FALSE(status().connected);
  EXPECT_EQ(status().trouble.code, errc::unavailable);
  EXPECT_EQ(status().trouble.text, "reset by the network");
  EXPECT_EQ(t.over.reason(errc::unavailable), "reset by the network");
  EXPECT_EQ(t.over.reason(errc::outcome_unknown), "reset by the network");
  EXPECT_EQ(t.over.reason(errc::timed_out), "");
  EXPECT_EQ(t.over.out_since(), t.now());
  t.pass(3s);
  EXPECT_EQ(status().last_failure, "3 s ago: reset by the network");
  t.greet(1);
  EXPECT_TRUE(status().connected);
  EXPECT_FALSE(status().trouble.code);
  EXPECT_EQ(status().reconnects, 1u);
  EXPECT_EQ(t.over.out_since(), base::never);
  EXPECT_EQ(heard.other_lines(), 0u);
  EXPECT_EQ(heard.text(), "the connection to mysql://server/test is lost: reset by the network\n"
                          "connected to mysql://server/test again after 3 s\n");
}

TEST(mysql_transport, a_server_that_never_answers_is_unavailable_after_the_op_timeout) {
  server_fixture t("row");
  t.net.while_blocked = [&] { t.pass(op_timeout); };
  const std::string text = refusal_of(t);
  EXPECT_NE(text.find("no answer within the op-timeout"), text.npos) << text;
}

TEST(mysql_transport, an_overdue_statement_is_the_reason_of_the_outage) {
  server_fixture t("row");
  t.open();
  t.acquire(false);
  t.pass(op_timeout - 1ms);
  EXPECT_FALSE(t.connections[0]->closes);
  EXPECT_FALSE(t.over.is_unavailable());
  t.pass(1ms);
  EXPECT_TRUE(t.connections[0]->closes);
  EXPECT_TRUE(t.over.is_unavailable());
  EXPECT_EQ(t.over.last_failure().text, "the server does not answer");
}

TEST(mysql_transport, connections_are_opened_up_to_their_bound) {
  server_fixture t("row");
  t.open();
  std::vector<std::unique_ptr<seam::claim>> claims;
  std::vector<std::unique_ptr<told>> sinks;
  for (int i = 0; i < 8; ++i) {
    sinks.push_back(std::make_unique<told>());
    claims.push_back(t.s->open("lock" + std::to_string(i), *sinks.back()));
    claims.back()->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  }
  EXPECT_EQ(t.connections.size(), t.terms.connections);
  t.reply(0, granted_row(1));
  EXPECT_TRUE(t.awaits(0, "UPDATE")) << "the next statement of the queue";
  t.pass(op_timeout + 1s);  // the others are given up
  t.close_requested();
}

}  // namespace
}  // namespace holdfast::mysql_unit
