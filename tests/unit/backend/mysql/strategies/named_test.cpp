#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr const char* number = "30031216640000005";  // a UUID_SHORT() of 2026

class mysql_named : public testing::Test {
 protected:
  mysql_named() { t.open(); }
  // Grants a lock for which nobody waits, on the second connection.
  void grant() {
    t.acquire();
    t.greet(1);
    t.reply(1, rows({{"1", number}}));
    EXPECT_EQ(t.sink.take(), "granted ");
  }
  server_fixture t{"named"};
};

TEST_F(mysql_named, a_claim_has_a_connection_of_its_own) {
  t.acquire();
  ASSERT_EQ(t.connections.size(), 2u);
  const time_point sent = t.now();
  t.greet(1);
  EXPECT_TRUE(t.awaits(1, "SELECT GET_LOCK(SHA2(x'"));
  t.reply(1, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_GT(t.sink.last.number, 0);
  EXPECT_LT(t.sink.last.deadline, sent + idle_timeout);
  EXPECT_GT(t.sink.last.deadline, sent + idle_timeout - 1s);
}

TEST_F(mysql_named, a_grant_that_was_waited_for_is_confirmed_first) {
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", number}}));
  EXPECT_TRUE(t.awaits(1, ",1000000000)"));
  t.pass(60s);
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "") << "the server may have freed it since";
  const time_point sent = t.now();
  EXPECT_TRUE(t.awaits(1, "IS_USED_LOCK"));
  t.reply(1, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_GT(t.sink.last.deadline, sent);
}

TEST_F(mysql_named, a_stale_grant_is_requested_again) {
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", number}}));
  t.reply(1, rows({{"1"}}));
  t.reply(1, rows({{"0", number}}));
  EXPECT_TRUE(t.awaits(1, "GET_LOCK")) << "another client holds it by now";
}

TEST_F(mysql_named, a_waiter_that_leaves_ends_its_connection) {
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", number}}));
  t.lock->cancel();
  t.close_requested();
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), "") << "the server may grant it until the connection is dead";
  EXPECT_EQ(t.statement(0), "KILL 101");
  t.reply(0, {});
  t.reply(0, error(1094));
  EXPECT_EQ(t.sink.take(), "ended ");
}

TEST_F(mysql_named, an_attempt_does_not_take_its_own_lost_connection_for_another_client) {
  t.acquire();
  t.greet(1);
  t.cut(1);  // after the server granted the lock
  ASSERT_EQ(t.connections.size(), 3u);
  t.greet(2);
  t.reply(2, rows({{"0", number}}));
  EXPECT_EQ(t.sink.take(), "") << "the server has not yet noticed the cut";
  EXPECT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(1094));
  t.pass(op_timeout / 2);
  EXPECT_TRUE(t.awaits(2, "GET_LOCK"));
  t.reply(2, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_named, an_attempt_that_lost_its_connection_finds_the_lock_of_another_client) {
  t.acquire();
  t.greet(1);
  t.cut(1);
  t.greet(2);
  t.reply(0, error(1094));
  t.reply(2, rows({{"0", number}}));
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::timed_out).message() + ' ');
}

TEST_F(mysql_named, a_heartbeat_moves_the_deadline) {
  grant();
  const time_point before = t.sink.last.deadline;
  t.pass(idle_timeout / 3 + 1ms);
  ASSERT_EQ(t.statement(1), "SELECT @@read_only");
  t.reply(1, rows({{"0"}}));
  EXPECT_EQ(t.sink.take(), "extended ");
  EXPECT_GT(t.sink.last.deadline, before);
}

TEST_F(mysql_named, a_heartbeat_without_an_answer_is_a_doubt_and_then_a_loss) {
  grant();
  t.pass(2 * idle_timeout / 3 + 2ms);
  EXPECT_EQ(t.sink.take(), "doubtful ");
  t.pass(idle_timeout / 3);
  t.close_requested();
  EXPECT_EQ(t.sink.take(), "lost ");
}

TEST_F(mysql_named, a_server_that_has_become_a_replica_loses_the_lock) {
  grant();
  t.pass(idle_timeout / 3 + 1ms);
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "lost ");
}

// The server may grant it a lock that another client holds at the promoted one.
TEST_F(mysql_named, a_waiter_leaves_a_server_that_has_become_a_replica) {
  grant();
  told waiter;
  const auto waits = t.s->open("other", waiter);
  waits->acquire({.ttl = 30s, .at = t.now()});
  t.greet(2);
  t.reply(2, rows({{"0", number}}));
  EXPECT_TRUE(t.awaits(2, ",1000000000)"));
  t.pass(idle_timeout / 3 + 1ms);
  t.reply(1, rows({{"1"}}));
  EXPECT_TRUE(t.connections[2]->closes);
  EXPECT_EQ(t.sink.take() + waiter.take(), "lost ") << "the waiter goes on elsewhere";
}

// A read-only server still grants named locks, which the promoted one grants as well.
TEST_F(mysql_named, a_server_that_has_become_a_replica_grants_nothing) {
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", number, "0"}}));
  t.reply(1, rows({{"1"}}));
  EXPECT_TRUE(t.awaits(1, "@@read_only"));
  t.reply(1, rows({{"1", number, "1"}}));
  EXPECT_EQ(t.sink.take(), "") << "it waits for the primary";
  EXPECT_TRUE(t.connections[1]->closes);
}

TEST_F(mysql_named, an_attempt_that_the_server_refuses_has_its_reason) {
  t.acquire();
  t.greet(1);
  t.reply(1, error(1142));
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::refused).message() + ' ');
  EXPECT_NE(t.sink.reason.find("the server's words"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_named, a_heartbeat_that_the_server_refuses_loses_the_lock) {
  grant();
  t.pass(idle_timeout / 3 + 1ms);
  t.reply(1, error(1317));
  EXPECT_EQ(t.sink.take(), "lost ");
  EXPECT_TRUE(t.connections[1]->closes);
}

TEST_F(mysql_named, a_heartbeat_is_sent_after_each_third_of_the_idle_timeout) {
  grant();
  for (int i = 0; i < 3; ++i) {
    t.pass(idle_timeout / 3 - 1ms);
    EXPECT_EQ(t.statement(1), "") << i;
    t.pass(1ms);
    ASSERT_EQ(t.statement(1), "SELECT @@read_only") << i;
    t.reply(1, rows({{"0"}}));
    EXPECT_EQ(t.sink.take(), "extended ");
  }
}

TEST_F(mysql_named, a_heartbeat_that_is_answered_late_is_one_doubt) {
  grant();
  t.pass(idle_timeout / 3);
  t.pass(idle_timeout / 3 - 1ms);
  EXPECT_EQ(t.sink.take(), "");
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), "doubtful ");
  t.run([&](time_point now, event_queue& events) { t.s->on_tick(now, events); });
  EXPECT_EQ(t.sink.take(), "") << "it is reported once";
  t.reply(1, rows({{"0"}}));
  EXPECT_EQ(t.sink.take(), "extended ");
}

TEST_F(mysql_named, the_end_of_the_connection_is_the_loss_of_the_lock) {
  grant();
  t.cut(1);
  EXPECT_EQ(t.sink.take(), "lost ");
}

TEST_F(mysql_named, a_released_connection_serves_the_next_claim) {
  grant();
  t.lock->release(nullptr);
  EXPECT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "ended ");
  t.acquire();
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
  EXPECT_EQ(t.connections.size(), 2u);
}

// Over another connection the try could reach the server first.
TEST_F(mysql_named, a_try_does_not_overtake_the_release_before_it) {
  grant();
  told next;
  const auto rival = t.s->open("job", next);
  t.lock->release(nullptr);
  rival->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  EXPECT_EQ(t.connections.size(), 2u) << "it needs no other connection";
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "ended ");
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
  t.reply(1, rows({{"0", number}}));
  EXPECT_EQ(next.take(), "refused:" + make_error_code(errc::timed_out).message() + ' ');
}

TEST_F(mysql_named, a_release_waits_for_the_reply_to_a_heartbeat) {
  grant();
  t.pass(idle_timeout / 3 + 1ms);
  t.lock->release(nullptr);
  EXPECT_EQ(t.statement(1), "SELECT @@read_only");
  t.reply(1, rows({{"0"}}));
  EXPECT_TRUE(t.awaits(1, "RELEASE_LOCK"));
}

TEST_F(mysql_named, numbers_that_went_back_are_refused) {
  grant();
  t.lock->release(nullptr);
  t.reply(1, rows({{"1"}}));
  t.acquire();
  t.reply(1, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "ended refused:" + make_error_code(errc::refused).message() + ' ');
  EXPECT_NE(t.sink.reason.find("the server's tokens went back"), std::string::npos);
  EXPECT_TRUE(t.connections[1]->closes) << "the lock goes with its connection";
}

// The server may still have the lock that came with the refused number.
TEST_F(mysql_named, an_attempt_does_not_take_the_connection_of_the_one_before_for_another_client) {
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", "0"}}));
  t.close_requested();
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::exhausted).message() + ' ');
  t.acquire();
  t.greet(2);
  t.reply(2, rows({{"0", number}}));
  EXPECT_EQ(t.sink.take(), "");
  t.pass(1ms);
  EXPECT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(1094));
  t.pass(op_timeout / 2);
  t.reply(2, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_named, an_attempt_whose_statement_the_server_ends_each_time_has_the_servers_words) {
  t.acquire();
  t.greet(1);
  for (base::duration passed{}; passed <= op_timeout; passed += 1s) {
    if (t.awaits(1, "GET_LOCK")) t.reply(1, error(1317));
    t.pass(1s);
  }
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_NE(t.sink.reason.find("the server's words"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_named, a_number_that_is_none_is_exhausted) {
  t.acquire();
  t.greet(1);
  t.reply(1, rows({{"1", "0"}}));
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::exhausted).message() + ' ');
  EXPECT_NE(t.sink.reason.find("UUID_SHORT() exceeds the range"), std::string::npos)
      << t.sink.reason;
}

// All locks of a server draw from one counter, and replies may come in another order.
TEST_F(mysql_named, numbers_of_two_locks_may_arrive_in_another_order) {
  told other;
  const auto second = t.s->open("other", other);
  t.acquire();
  second->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  t.greet(1);
  t.greet(2);
  t.reply(1, rows({{"1", "30031216640000006"}}));
  t.reply(2, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take() + other.take(), "granted granted ");
  second->release(nullptr);
  t.reply(2, rows({{"1"}}));
  second->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  t.reply(2, rows({{"1", number}}));
  EXPECT_EQ(other.take(), "ended refused:" + make_error_code(errc::refused).message() + ' ');
}

// The server closes a connection that no claim uses, which is not an outage.
TEST_F(mysql_named, the_end_of_a_spare_connection_is_not_a_failure) {
  grant();
  t.lock->release(nullptr);
  t.reply(1, rows({{"1"}}));
  t.cut(1);
  EXPECT_EQ(t.statement(0), "") << "no KILL";
  told other;
  const auto second = t.s->open("other", other);
  t.acquire();
  second->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  ASSERT_EQ(t.connections.size(), 4u) << "after a failure they would be opened one by one";
  t.greet(2);
  t.reply(2, rows({{"1", "30031216640000006"}}));
  EXPECT_EQ(t.sink.take(), "ended granted ");
  second->cancel();
}

TEST_F(mysql_named, a_server_without_a_free_connection_is_named_at_once) {
  t.acquire(false);
  t.cut(1, "Too many connections (error 1040); raise max_connections of the server");
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
}

TEST(mysql_named_pool, a_full_server_is_reported_with_its_bound) {
  server_fixture t("named");
  t.net.while_blocked = [&] { t.greet(0, {"max_connections", "7"}); };
  t.over.open();
  t.lock = t.s->open("job", t.sink);
  t.acquire(false);
  t.cut(1, "Too many connections (error 1040); raise max_connections of the server");
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_NE(t.sink.reason.find("of the server (7 now), or lower connections="), std::string::npos)
      << t.sink.reason;
}

TEST(mysql_named_pool, a_full_server_is_reported_without_a_bound_that_was_not_read) {
  server_fixture t("named");
  t.open();
  t.acquire(false);
  t.cut(0);
  ASSERT_EQ(t.connections.size(), 3u) << "the next one of the commands";
  t.cut(1, "Too many connections (error 1040); raise max_connections of the server");
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.sink.reason.find(" now)"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_named, a_waiter_that_has_a_connection_waits_on_when_the_server_refuses_another) {
  t.acquire(false);
  t.greet(1);
  t.reply(1, rows({{"0", number}}));
  t.cut(0);
  t.pass(1ms);
  ASSERT_EQ(t.connections.size(), 3u);
  t.run([&](time_point now, event_queue& e) {
    t.connections[2]->events->on_closed({errc::refused, "Access denied"}, now, e);
  });
  EXPECT_EQ(t.sink.take(), "");
  t.reply(1, rows({{"1"}}));
  t.reply(1, rows({{"1", number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_named, an_attempt_whose_connection_cannot_even_be_begun_is_answered) {
  t.refusal = {errc::unavailable, "this process has no descriptor left"};
  t.acquire();
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_NE(t.sink.reason.find("no descriptor left"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_named, an_attempt_in_an_outage_has_the_next_connection_of_the_commands_opened_soon) {
  constexpr std::size_t failures = 6;
  for (std::size_t i = 0; i < failures; ++i) {
    t.cut(i);
    if (i + 1 < failures) t.pass(5s);
  }
  ASSERT_EQ(t.connections.size(), failures) << "the pause is more than a second by now";
  t.acquire();
  ASSERT_EQ(t.connections.size(), failures + 1) << "that of the claim";
  t.pass(t.terms.retry_base);
  EXPECT_EQ(t.connections.size(), failures + 2);
}

// Else a waiter of a client that sends nothing else would not notice an outage.
TEST_F(mysql_named, a_connection_that_cannot_be_opened_has_the_server_probed) {
  t.acquire(false);
  t.cut(1);
  t.pass(1ms);
  EXPECT_EQ(t.statement(0), "DO 0");
  t.pass(op_timeout + 1ms);
  t.close_requested();
  EXPECT_TRUE(t.over.is_unavailable());
}

TEST_F(mysql_named, a_pool_without_a_free_connection_is_an_error) {
  const auto [sinks, claims] = acquire_several(t, t.terms.connections + 1, [] {});
  for (std::size_t i = 1; i < t.connections.size(); ++i) {
    t.greet(i);
    t.reply(i, rows({{"1", number}}));
  }
  t.pass(1ms);
  EXPECT_EQ(sinks.back()->take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_NE(sinks.back()->reason.find("all 4 connections of this client"), std::string::npos)
      << sinks.back()->reason;
  for (auto& c : claims) c->release(nullptr);
  for (std::size_t i = 1; i < t.connections.size(); ++i) t.reply(i, rows({{"1"}}));
}

}  // namespace
}  // namespace holdfast::mysql_unit
