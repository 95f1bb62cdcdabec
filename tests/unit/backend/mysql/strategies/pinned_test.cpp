// Strategies whose locks a connection holds: what becomes of a claim whose connection is lost, does
// not answer, or is answered late.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr const char* uuid_of_2026 = "30031216640000005";  // a UUID_SHORT() of 2026
constexpr unsigned lock_wait_timeout = 1205, query_interrupted = 1317, thread_unknown = 1094;

std::string ended_as(errc why) { return "ended:" + make_error_code(why).message() + ' '; }

class mysql_pinned : public testing::Test {
 protected:
  mysql_pinned() { t.open(); }
  // Over the second connection.
  void grant(const mysql::sql_row& variable = {"read_only", "OFF"}) {
    t.acquire();
    t.greet(1, variable);
    t.reply(1, rows({{"1", uuid_of_2026}}));
    EXPECT_EQ(t.sink.take(), "granted ");
  }
  void await_heartbeat() {
    t.pass(idle_timeout / 3 + 1ms);
    ASSERT_EQ(t.statement(1), "SELECT @@read_only");
  }
  // The server does not execute the first statement of an attempt.
  void begin_attempt() {
    t.acquire();
    t.greet(1);
    ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
    t.reply(1, error(query_interrupted));
  }
  void expect_no_words_of_the_server() {
    EXPECT_EQ(t.sink.reason.find("the server's words"), std::string::npos) << t.sink.reason;
  }
  server_fixture t{"named"};
};

TEST_F(mysql_pinned, a_heartbeat_is_in_time_where_the_idle_timeout_is_shorter_than_the_op_timeout) {
  grant({"wait_timeout", "6"});
  t.pass(2s);
  EXPECT_EQ(t.statement(1), "SELECT @@read_only");
}

TEST_F(mysql_pinned, an_attempt_that_ends_within_a_pause_sends_nothing_more) {
  begin_attempt();
  t.pass(op_timeout - 10ms);
  ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
  t.reply(1, error(query_interrupted));
  t.pass(50ms);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.statement(1), "");
}

TEST_F(mysql_pinned, an_attempt_that_the_server_never_executes_has_a_reason_without_an_error_too) {
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{std::nullopt, uuid_of_2026}}));  // GET_LOCK() was interrupted
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.sink.reason, "no answer within the op-timeout");
}

TEST_F(mysql_pinned, an_attempt_is_granted_before_its_lost_connection_is_known_to_be_dead) {
  t.acquire();
  t.greet(1);
  t.cut(1);
  t.greet(2);
  ASSERT_EQ(t.statement(0), "KILL 101");
  t.reply(2, rows({{"1", uuid_of_2026}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_pinned, a_refused_try_is_not_the_reason_for_a_lost_connection) {
  begin_attempt();
  t.pass(1s);
  ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
  t.cut(1, "reset by the network");
  ASSERT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(thread_unknown));
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.sink.reason, "reset by the network");
}

TEST_F(mysql_pinned, a_refused_try_is_not_the_reason_for_a_withdrawal_without_an_answer) {
  begin_attempt();
  t.lock->cancel();
  ASSERT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), ended_as(errc::outcome_unknown));
  expect_no_words_of_the_server();
  t.close_requested();
}

TEST_F(mysql_pinned, a_release_that_the_server_does_not_execute_now_is_sent_again) {
  for (const unsigned why : {query_interrupted, lock_wait_timeout}) {
    server_fixture at{"named"};
    at.open();
    at.acquire();
    at.greet(1);
    at.reply(1, rows({{"1", uuid_of_2026}}));
    at.sink.take();
    at.lock->release(nullptr);
    for (int refusals = 0; refusals < 3; ++refusals) {
      ASSERT_TRUE(at.awaits(1, "RELEASE_LOCK")) << why;
      at.reply(1, error(why));
      EXPECT_EQ(at.sink.take(), "");
      at.pass(1s);
    }
    at.reply(1, rows({{"1"}}));
    EXPECT_EQ(at.sink.take(), "ended ");
  }
}

// Neither was the try before it.
TEST_F(mysql_pinned, a_withdrawal_that_the_server_does_not_execute_now_is_sent_again) {
  begin_attempt();
  t.lock->cancel();
  for (int refusals = 0; refusals < 3; ++refusals) {
    ASSERT_TRUE(t.awaits(1, "RELEASE_LOCK")) << t.statement(1);
    t.reply(1, error(query_interrupted));
    EXPECT_EQ(t.sink.take(), "");
    t.pass(1s);
  }
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "ended ");
}

TEST_F(mysql_pinned, a_release_that_the_server_never_executes_ends_after_the_op_timeout) {
  grant();
  t.lock->release(nullptr);
  t.reply(1, error(lock_wait_timeout));
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), ended_as(errc::outcome_unknown));
  t.close_requested();
}

// The KILL that would prove the end of the connection is not answered either.
TEST_F(mysql_pinned, a_release_whose_connection_is_lost_ends_after_the_op_timeout) {
  grant();
  t.lock->release(nullptr);
  t.cut(1);
  t.pass(op_timeout - 1ms);
  EXPECT_EQ(t.sink.take(), "");
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), ended_as(errc::outcome_unknown));
  t.close_requested();
}

TEST_F(mysql_pinned, a_release_behind_a_lost_heartbeat_ends_with_the_connection) {
  grant();
  await_heartbeat();
  t.lock->release(nullptr);
  t.cut(1);
  EXPECT_EQ(t.statement(0), "KILL 101");
  EXPECT_EQ(t.sink.take(), "") << "the server may not have noticed the cut";
  t.reply(0, error(thread_unknown));
  EXPECT_EQ(t.sink.take(), "ended ");
}

TEST_F(mysql_pinned, a_heartbeat_that_is_answered_after_the_end_of_the_claim_has_no_effect) {
  grant();
  await_heartbeat();
  t.lock->release(nullptr);
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), ended_as(errc::outcome_unknown));
  ASSERT_TRUE(t.connections[1]->closes);
  t.reply(1, rows({{"0"}}));
  EXPECT_EQ(t.sink.take(), "");
  t.close_requested();
}

TEST_F(mysql_pinned, a_claim_that_leaves_before_it_has_a_connection_does_not_keep_it) {
  t.acquire(false);
  t.lock->cancel();
  EXPECT_EQ(t.sink.take(), "ended ");
  t.greet(1);
  told next;
  const auto other = t.s->open("other", next);
  other->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
  EXPECT_EQ(t.connections.size(), 2u);
}

// No claim waits for it, and nothing else need be awaited.
TEST_F(mysql_pinned, the_greeting_of_a_connection_is_attended_after_its_claim_has_left) {
  const auto begin_greeting = [&](std::size_t i) {
    t.run([&](time_point now, event_queue& e) { t.connections.at(i)->events->on_open(now, e); });
  };
  t.acquire(false);
  t.lock->cancel();
  begin_greeting(1);
  EXPECT_TRUE(t.net.callers->has_pending_replies());
  t.cut(1);
  EXPECT_FALSE(t.net.callers->has_pending_replies());
  t.cut(0);
  begin_greeting(2);
  EXPECT_TRUE(t.net.callers->has_pending_replies()) << "that of the commands";
  t.greet(2);
  EXPECT_FALSE(t.net.callers->has_pending_replies());
}

}  // namespace
}  // namespace holdfast::mysql_unit
