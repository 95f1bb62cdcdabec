#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_row : public testing::Test {
 protected:
  mysql_row() { t.open(); }
  ~mysql_row() override {
    t.lock->cancel();
    t.close_requested();
  }
  // On the second connection, while another client has the lock for a long time.
  void wait_for_bell() {
    t.acquire(false);
    t.reply(0, {});
    t.reply(0, rows({{"another", "20000000"}}));
    t.greet(1);
    ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
    t.pass(500ms);
    ASSERT_EQ(t.statement(0), "") << "it sleeps";
  }
  void give_up() {
    t.run([&](time_point now, base::event_queue& events) {
      t.s->end_claims(errc::unavailable, "it was given up", now, events);
    });
  }
  // Another client queues for the bell meanwhile.
  void acquire_with_bell() {
    wait_for_bell();
    t.reply(1, rows({{"7", "1"}}));
    t.reply(0, granted_row(5));
  }
  server_fixture t{"row"};
};

TEST_F(mysql_row, a_free_lock_takes_one_statement) {
  const time_point sent = t.now();
  t.acquire();
  EXPECT_TRUE(t.awaits(
      0, "WHERE name=x'6a6f62' AND has_members=0 AND (expires_at<=UTC_TIMESTAMP(6) OR owner=x'"));
  t.pass(1s);
  t.reply(0, granted_row(77));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.sink.last.number, 77);
  EXPECT_LT(t.sink.last.deadline, sent + 30s) << "it counts from the send";
}

TEST_F(mysql_row, a_lock_of_another_owner_is_busy) {
  t.acquire();
  t.reply(0, {});
  EXPECT_TRUE(t.awaits(0, "SELECT owner,"));
  t.reply(0, rows({{"another", "5000000"}}));
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::timed_out).message() + ' ');
}

TEST_F(mysql_row, a_withdrawal_follows_the_acquire_that_may_still_be_executed) {
  t.acquire();
  ASSERT_TRUE(t.awaits(0, "UPDATE"));
  give_up();
  (void)t.sink.take();
  ASSERT_EQ(t.connections.size(), 1u) << "another connection could overtake it";
  t.reply(0, granted_row(5));
  EXPECT_TRUE(t.awaits(0, "SET owner=x''"));
}

TEST_F(mysql_row, a_withdrawal_that_is_cut_is_sent_again) {
  t.acquire();
  give_up();
  t.reply(0, granted_row(5));
  ASSERT_TRUE(t.awaits(0, "SET owner=x''"));
  t.cut(0);
  t.pass(1s);
  ASSERT_EQ(t.connections.size(), 2u);
  t.greet(1);
  for (int i = 0; i < 10 && !t.awaits(1, "SET owner=x''"); ++i) {
    if (t.awaits(1, "KILL")) t.reply(1, error(1094));
    t.pass(1s);
  }
  EXPECT_TRUE(t.awaits(1, "SET owner=x''"));
  t.reply(1, granted_row(0));
}

TEST_F(mysql_row, a_renewal_that_is_repeated_meanwhile_is_sent_once) {
  t.acquire();
  t.reply(0, granted_row(5));
  t.lock->renew(30s, 1);
  t.greet(1);
  ASSERT_TRUE(t.awaits(1, "expires_at=GREATEST"));
  const std::size_t size_of_one = t.statement(1).size();
  t.lock->renew(30s, 2);
  t.lock->renew(30s, 3);
  sql_reply renewed;
  renewed.affected = 1;
  t.reply(1, renewed);
  EXPECT_EQ(t.statement(1).size(), size_of_one);
}

TEST_F(mysql_row, a_waiter_that_cannot_wait_for_the_bell_polls) {
  wait_for_bell();
  t.reply(1, error(1317));  // there is no bell
  t.pass(1s);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, a_waiter_whose_wait_for_the_bell_has_failed_does_not_have_the_bell) {
  wait_for_bell();
  t.reply(1, rows({{"7", std::nullopt}}));
  EXPECT_EQ(t.statement(0), "") << "nothing has woken it";
  t.pass(1s);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
  t.reply(0, granted_row(5));
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  EXPECT_EQ(t.statement(1), "") << "there is no bell to release";
}

TEST_F(mysql_row, a_connection_on_which_the_bell_was_refused_serves_the_next_waiter) {
  wait_for_bell();
  t.reply(1, error(1317));
  told next;
  const auto waiter = t.s->open("another job", next);
  waiter->acquire({.ttl = 30s, .at = t.now()});
  t.reply(0, {});
  t.reply(0, rows({{"another", "20000000"}}));
  EXPECT_EQ(t.connections.size(), 2u);
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
  waiter->cancel();
  t.close_requested();
}

TEST_F(mysql_row, a_waiter_that_is_woken_by_the_bell_reads_the_row) {
  wait_for_bell();
  t.reply(1, rows({{"7", "1"}}));
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
  EXPECT_EQ(t.sink.take(), "");
  t.reply(0, {});
  t.reply(0, rows({{"another", "20000000"}}));
  t.pass(300ms);
  EXPECT_TRUE(t.awaits(0, "UPDATE")) << "it has the bell, and nothing else wakes it";
  t.reply(0, granted_row(5));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.statement(1), "") << "it keeps the bell";
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  EXPECT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.reply(1, {});
}

TEST_F(mysql_row, after_a_wait_for_the_bell_the_next_acquire_queues_for_it) {
  acquire_with_bell();
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  t.reply(1, {});
  EXPECT_EQ(t.sink.take(), "granted ended ");
  t.acquire(false);
  EXPECT_EQ(t.statement(0), "") << "it overtakes no waiter";
  ASSERT_TRUE(t.awaits(1, "GET_LOCK"));
  t.reply(1, rows({{std::nullopt, "1"}}));
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
  t.reply(0, granted_row(6));
  EXPECT_EQ(t.sink.take(), "granted ");
}

// While one claim of a client releases, its next acquire is another claim's.
TEST_F(mysql_row, after_a_wait_for_the_bell_every_claim_of_the_client_queues_for_it) {
  acquire_with_bell();
  told next;
  const auto second = t.s->open("job", next);
  t.lock->release(nullptr);
  second->acquire({.ttl = 30s, .at = t.now()});
  t.greet(2);
  EXPECT_TRUE(t.awaits(2, "GET_LOCK"));
  t.reply(0, granted_row(0));
  EXPECT_EQ(t.statement(0), "") << "it overtakes no waiter";
  t.reply(1, {});
  t.reply(2, rows({{"8", "1"}}));
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
  t.reply(0, granted_row(6));
  EXPECT_EQ(next.take(), "granted ");
}

TEST_F(mysql_row, after_a_wait_for_the_bell_without_rivals_the_next_acquire_tries_at_once) {
  wait_for_bell();
  t.reply(1, rows({{std::nullopt, "1"}}));
  t.reply(0, granted_row(5));
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  t.reply(1, {});
  t.pass(10ms);
  t.acquire(false);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, one_attempt_is_made_whether_or_not_others_queue_for_the_bell) {
  acquire_with_bell();
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  t.reply(1, {});
  t.acquire();
  EXPECT_TRUE(t.awaits(0, "grant_number="));
}

// Only a release can wake a waiter that another claim would overtake.
TEST_F(mysql_row, a_claim_tries_at_once_while_another_one_of_the_client_has_the_bell) {
  acquire_with_bell();
  told next;
  const auto second = t.s->open("job", next);
  second->acquire({.ttl = 30s, .at = t.now()});
  EXPECT_TRUE(t.awaits(0, "grant_number="));
  second->cancel();
  t.reply(0, {});
  t.reply(0, {});
}

TEST_F(mysql_row, the_end_of_an_earlier_bell_leaves_the_present_one) {
  acquire_with_bell();
  t.lock->release(nullptr);
  t.reply(0, granted_row(0));
  ASSERT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.acquire(false);
  t.greet(2);
  ASSERT_TRUE(t.awaits(2, "GET_LOCK"));
  t.cut(1);
  ASSERT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(1094));
  t.pass(500ms);
  EXPECT_EQ(t.statement(0), "") << "it sleeps until the bell wakes it";
  EXPECT_EQ(t.connections.size(), 3u) << "it queues once";
}

TEST_F(mysql_row, the_bell_is_released_together_with_the_row) {
  acquire_with_bell();
  t.lock->release(nullptr);
  EXPECT_TRUE(t.awaits(0, "SET owner=x''"));
  EXPECT_TRUE(t.awaits(1, "RELEASE_LOCK"));
  t.reply(0, granted_row(0));
  t.reply(1, {});
}

TEST_F(mysql_row, a_waiter_that_is_woken_just_before_the_release_is_executed_tries_again_at_once) {
  wait_for_bell();
  t.reply(1, rows({{"7", "1"}}));
  t.reply(0, {});
  t.reply(0, rows({{"", "-1", "0"}}));
  t.reply(0, {});  // the row exists already
  EXPECT_TRUE(t.awaits(0, "grant_number="));
  t.reply(0, {});
  t.reply(0, rows({{"", "-1", "0"}}));
  EXPECT_EQ(t.statement(0), "") << "a client that tries in a circle loads the server";
}

TEST_F(mysql_row, a_client_that_uses_a_row_without_a_pause_tries_again_at_once) {
  for (int i = 0; i < 4; ++i) {
    t.acquire(false);
    ASSERT_TRUE(t.awaits(0, "UPDATE")) << i;
    t.reply(0, granted_row(5));
    t.pass(8ms);
    t.lock->release(nullptr);
    t.reply(0, granted_row(0));
  }
  t.acquire(false);
  EXPECT_EQ(t.statement(0), "") << "after a while it queues for the bell";
  t.greet(1);
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
}

TEST_F(mysql_row, a_holder_leaves_the_row_free_for_clients_that_poll) {
  for (const int marks : {3, 4}) {
    t.acquire(false);
    t.reply(0, granted_row(5));
    t.pass(6ms);
    t.lock->release(nullptr);
    EXPECT_TRUE(t.awaits(0, "renewals=LAST_INSERT_ID(renewals)"));
    t.reply(0, granted_row(marks));
  }
  t.acquire(false);
  EXPECT_EQ(t.statement(0), "");
  t.pass(200ms);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, a_release_of_a_row_that_is_lost_says_nothing_of_clients_that_poll) {
  for (const bool is_lost : {false, true}) {
    t.acquire(false);
    t.reply(0, granted_row(5));
    t.pass(6ms);
    t.lock->release(nullptr);
    t.reply(0, is_lost ? sql_reply() : granted_row(3));
  }
  t.acquire(false);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, a_renewal_is_not_taken_for_a_client_that_polls) {
  sql_reply renewed;
  renewed.affected = 1;
  for (const int marks : {3, 4}) {
    t.acquire(false);
    t.reply(0, granted_row(5));
    t.lock->renew(30s, 1);
    if (marks == 3) t.greet(1);
    t.pass(6ms);
    t.reply(1, renewed);
    t.lock->release(nullptr);
    t.reply(0, granted_row(marks));
  }
  t.acquire(false);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, a_waiter_asks_for_the_bell_again_when_its_time_is_over) {
  wait_for_bell();
  t.reply(1, rows({{"7", "0"}}));
  EXPECT_TRUE(t.awaits(1, "GET_LOCK"));
}

TEST_F(mysql_row, a_waiter_that_leaves_ends_its_wait_for_the_bell) {
  wait_for_bell();
  t.lock->cancel();
  EXPECT_EQ(t.sink.take(), "ended ");
  t.close_requested();
  t.pass(1ms);
  EXPECT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(1094));
}

TEST_F(mysql_row, a_waiter_whose_bell_is_lost_polls) {
  wait_for_bell();
  t.cut(1);
  t.pass(1ms);
  EXPECT_EQ(t.statement(0), "KILL 101");
  t.reply(0, error(1094));
  t.pass(300ms);
  EXPECT_TRUE(t.awaits(0, "UPDATE"));
}

TEST_F(mysql_row, a_waiter_without_a_connection_for_the_bell_polls) {
  t.acquire(false);
  t.reply(0, {});
  t.reply(0, rows({{"another", "20000000"}}));
  t.cut(1);
  EXPECT_EQ(t.statement(0), "DO 0") << "it checks whether the server is there";
  t.reply(0, {});
  t.pass(1s);
  EXPECT_TRUE(t.awaits(0, "SET renewals=renewals+1")) << "the holder sees it at its release";
  t.reply(0, {});
  EXPECT_TRUE(t.awaits(0, "grant_number="));
}

TEST_F(mysql_row, a_release_compares_the_owner) {
  t.acquire();
  t.reply(0, granted_row(1));
  t.lock->release(nullptr);
  EXPECT_TRUE(t.awaits(0, "SET owner=x'',expires_at='1970-01-01'"));
  EXPECT_TRUE(t.awaits(0, " WHERE name=x'6a6f62' AND owner="));
  t.reply(0, granted_row(0));
  EXPECT_EQ(t.sink.take(), "granted ended ");
}

TEST_F(mysql_row, an_attempt_in_an_outage_connects_soon_and_a_waiter_in_its_turn) {
  for (int i = 0; i < 8; ++i) {  // the pause after each failure is longer
    const std::size_t before = t.connections.size();
    t.cut(before - 1);
    for (int ms = 0; t.connections.size() == before && ms < 60'000; ++ms) t.pass(1ms);
    ASSERT_GT(t.connections.size(), before);
  }
  t.cut(t.connections.size() - 1);
  const auto connects_soon = [&] {
    const std::size_t before = t.connections.size();
    t.pass(60ms);
    return t.connections.size() > before;
  };
  EXPECT_FALSE(connects_soon());
  t.acquire(false);
  EXPECT_FALSE(connects_soon());
  t.lock->cancel();
  t.acquire();
  EXPECT_TRUE(connects_soon());
}

TEST_F(mysql_row, an_attempt_that_the_server_never_executes_reports_the_servers_reason) {
  t.acquire();
  for (base::duration waited{}; waited <= op_timeout && t.sink.words.empty(); waited += 10ms) {
    if (t.awaits(0, "grant_number")) t.reply(0, error(1114));
    t.pass(10ms);
  }
  if (t.awaits(0, "SET owner=x''")) t.reply(0, {});
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_NE(t.sink.reason.find("make room on the server"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_row, a_late_reply_is_not_the_reason_for_the_failure_of_the_next_attempt) {
  t.acquire();
  give_up();
  t.acquire();
  t.pass(1s);
  t.reply(0, error(1114));
  ASSERT_TRUE(t.awaits(0, "SET owner=x''"));
  t.reply(0, granted_row(0));
  ASSERT_TRUE(t.awaits(0, "grant_number="));
  (void)t.sink.take();
  t.pass(op_timeout - 500ms);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.sink.reason.find("make room on the server"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_row, a_refused_try_is_not_the_reason_for_a_withdrawal_without_an_answer) {
  t.acquire();
  t.reply(0, error(1114));
  t.cut(0);
  t.lock->cancel();
  t.pass(op_timeout + 1s);
  EXPECT_EQ(t.sink.take(), "ended:" + make_error_code(errc::outcome_unknown).message() + ' ');
  EXPECT_EQ(t.sink.reason.find("make room on the server"), std::string::npos) << t.sink.reason;
}

TEST_F(mysql_row, a_try_does_not_overtake_the_release_before_it) {
  t.acquire();
  t.reply(0, granted_row(1));
  t.lock->release(nullptr);
  told next;
  const auto rival = t.s->open("job", next);
  rival->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  if (t.connections.size() > 1) t.greet(1);
  EXPECT_FALSE(t.awaits(1, "grant_number"));
  t.reply(0, granted_row(0));
  EXPECT_TRUE(t.awaits(0, "grant_number") || t.awaits(1, "grant_number"));
  rival->cancel();
  for (const std::size_t i : {0u, 1u, 0u, 1u})
    if (i < t.connections.size() && !t.statement(i).empty()) t.reply(i, granted_row(0));
}

TEST_F(mysql_row, a_deadlock_or_a_wait_for_the_row_is_repeated) {
  t.acquire();
  for (const unsigned code : {1213u, 1205u}) {
    t.reply(0, error(code));
    EXPECT_EQ(t.statement(0), "");
    t.pass(1s);
    EXPECT_TRUE(t.awaits(0, "UPDATE"));
  }
}

TEST_F(mysql_row, a_missing_right_is_reported) {
  t.acquire(false);
  t.reply(0, error(1142));
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::refused).message() + ' ');
}

// No caller waits for its reply, and nothing else need be awaited.
TEST_F(mysql_row, a_renewal_over_a_connection_of_the_commands_is_attended) {
  t.acquire();
  t.reply(0, granted_row(1));
  EXPECT_FALSE(t.net.callers->has_pending_replies());
  t.lock->renew(30s, 1);
  t.greet(1);
  t.cut(1);
  t.pass(1ms);  // the alarm for the cut has rung
  t.lock->renew(30s, 2);
  ASSERT_TRUE(t.awaits(0, "renewals=renewals+1"));
  t.pass(1ms);
  EXPECT_TRUE(t.net.callers->has_pending_replies());
  t.reply(0, granted_row(0));
  EXPECT_FALSE(t.net.callers->has_pending_replies());
}

TEST_F(mysql_row, a_renewal_that_does_not_find_its_owner_loses_the_lock) {
  const std::pair<sql_reply, errc> found[] = {{rows({{"job", "another", "5000"}}), errc::lost},
                                              {rows({{"job", "another", "-5"}}), errc::not_held},
                                              {{}, errc::not_held}};
  for (const auto& [row, why] : found) {
    server_fixture one("row");
    one.open();
    one.acquire();
    one.reply(0, granted_row(1));
    one.lock->renew(30s, 1);
    one.greet(1);
    EXPECT_TRUE(one.awaits(1, "renewals=renewals+1"));
    one.reply(1, {});
    one.reply(1, row);
    EXPECT_EQ(one.sink.take(), "granted lost ");
    EXPECT_EQ(one.sink.lost_by, why);
  }
}

}  // namespace
}  // namespace holdfast::mysql_unit
