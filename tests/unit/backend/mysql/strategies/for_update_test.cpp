#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

constexpr const char* a_number = "30031216640000005";  // a UUID_SHORT() of 2026
constexpr unsigned locked = 1205, deadlock = 1213, interrupted = 1317;

std::string refused_as(errc why) { return "refused:" + make_error_code(why).message() + ' '; }

class mysql_for_update : public testing::Test {
 protected:
  // Acquires over the second connection, up to the reply to the first statement.
  void acquire(bool one_attempt = true) {
    t.acquire(one_attempt);
    t.greet(1);
  }
  void grant() {
    acquire();
    t.reply(1, rows({{"1", a_number}}));
    EXPECT_EQ(t.sink.take(), "granted ");
  }
  // The opening: the reply to describe_table(), and then to what else is sent.
  errc opened_with(std::vector<sql_reply> replies) {
    const auto opening = t.open_with(std::move(replies));
    sent += opening.sent;
    return opening.code;
  }

  server_fixture t{"for-update"};
  std::string sent;
};

TEST_F(mysql_for_update, a_table_is_created_once) {
  EXPECT_EQ(opened_with({{}, {}, rows({{"InnoDB", "name varbinary"}})}), errc{});
  EXPECT_EQ(sent, "SELECT CREATE SELECT ");
}

TEST_F(mysql_for_update, a_table_that_cannot_be_created_is_named_with_its_statement) {
  EXPECT_EQ(opened_with({{}, error(1142)}), errc::refused);
}

TEST_F(mysql_for_update, a_table_that_is_not_there_after_its_creation_is_refused) {
  EXPECT_EQ(opened_with({{}, {}, {}}), errc::mismatch);
  EXPECT_EQ(sent, "SELECT CREATE SELECT ");
}

TEST_F(mysql_for_update, an_engine_without_row_locks_is_refused) {
  EXPECT_EQ(opened_with({rows({{"MyISAM", "name varbinary"}})}), errc::mismatch);
}

// The row would be found by reading, and locking, the whole table.
TEST_F(mysql_for_update, a_table_with_another_key_is_refused) {
  EXPECT_EQ(opened_with({rows({{"InnoDB", "id int"}})}), errc::mismatch);
}

TEST_F(mysql_for_update, the_timeouts_of_a_transaction_are_those_of_the_session) {
  t.open();
  t.acquire();
  t.run([&](time_point now, event_queue& e) { t.connections[1]->events->on_open(now, e); });
  for (const char* part :
       {"autocommit=0", "wait_timeout=30", "idle_transaction_timeout=30",
        "idle_readonly_transaction_timeout=30", "idle_write_transaction_timeout=30"})
    EXPECT_TRUE(t.awaits(1, part)) << t.statement(1);
  t.reply(1, {});
  EXPECT_EQ(t.statement(1), "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
}

TEST_F(mysql_for_update, the_smallest_timeout_in_force_bounds_the_deadline) {
  t.open();
  t.acquire();
  const time_point sent_at = t.now();
  t.greet(1, {"idle_transaction_timeout", "4"});
  t.reply(1, rows({{"1", a_number}}));
  EXPECT_LT(t.sink.last.deadline, sent_at + 4s);
}

TEST_F(mysql_for_update, a_row_that_does_not_exist_is_created_over_another_connection) {
  t.open();
  acquire();
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
  t.reply(1, {});
  EXPECT_TRUE(t.awaits(0, "INSERT INTO")) << "outside of the transaction";
  EXPECT_EQ(t.statement(1), "");
  t.reply(0, {});
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
  t.reply(1, rows({{"1", a_number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_for_update, a_row_that_another_client_created_and_locked_is_busy) {
  t.open();
  acquire();
  t.reply(1, {});
  t.reply(0, error(locked));
  EXPECT_EQ(t.sink.take(), refused_as(errc::timed_out));
}

// MySQL has its own number for NOWAIT.
TEST_F(mysql_for_update, a_row_that_another_client_has_locked_is_busy) {
  for (const unsigned why : {locked, 3572u}) {
    server_fixture one("for-update");
    one.open();
    one.acquire();
    one.greet(1);
    one.reply(1, error(why));
    EXPECT_EQ(one.sink.take(), refused_as(errc::timed_out)) << why;
  }
}

// The connection that was cut is not the one that would hold the lock.
TEST_F(mysql_for_update, an_attempt_finds_the_row_locked_after_a_cut_within_its_creation) {
  t.open();
  acquire();
  t.reply(1, {});
  ASSERT_TRUE(t.awaits(0, "INSERT INTO"));
  t.cut(0);
  t.pass(1s);
  ASSERT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
  t.reply(1, error(locked));
  EXPECT_EQ(t.sink.take(), refused_as(errc::timed_out));
}

TEST_F(mysql_for_update, a_row_is_created_again_after_a_cut) {
  t.open();
  acquire(false);
  t.reply(1, {});
  t.cut(0);
  t.pass(1s);
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
}

TEST_F(mysql_for_update, an_attempt_on_a_locked_row_ends_its_transaction) {
  t.open();
  acquire();
  t.reply(1, error(locked));
  EXPECT_EQ(t.sink.take(), refused_as(errc::timed_out));
  EXPECT_EQ(t.statement(1), "ROLLBACK");
  t.acquire();
  EXPECT_EQ(t.statement(1), "ROLLBACK") << "the connection is not idle";
  t.reply(1, {});
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
}

TEST_F(mysql_for_update, a_wait_that_reached_its_timeout_goes_on) {
  t.open();
  acquire(false);
  t.reply(1, error(locked));
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE/*M! WAIT"));
  t.reply(1, error(locked));
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE/*M! WAIT"));
  EXPECT_EQ(t.sink.take(), "");
}

TEST_F(mysql_for_update, a_grant_that_was_waited_for_is_confirmed) {
  t.open();
  acquire(false);
  t.reply(1, error(locked));
  t.pass(60s);
  t.reply(1, rows({{"1"}}));
  EXPECT_EQ(t.sink.take(), "");
  const time_point sent_at = t.now();
  EXPECT_TRUE(t.awaits(1, "@@in_transaction"));
  t.reply(1, rows({{"1", a_number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_GT(t.sink.last.deadline, sent_at);
}

// A try would lock the row once more. While FLUSH TABLES WITH READ LOCK waits for other waiters, it
// is refused, and the wait that follows would keep the row from them.
TEST_F(mysql_for_update, a_confirmation_that_is_interrupted_is_sent_again) {
  t.open();
  acquire(false);
  t.reply(1, error(locked));
  t.reply(1, rows({{"1"}}));
  for (int interruptions = 0; interruptions < 2; ++interruptions) {
    ASSERT_TRUE(t.awaits(1, "@@in_transaction"));
    t.reply(1, error(interrupted));
    EXPECT_EQ(t.sink.take(), "");
    t.pass(1s);
  }
  ASSERT_TRUE(t.awaits(1, "@@in_transaction"));
  t.reply(1, rows({{"0", a_number}}));  // its transaction has gone
  EXPECT_TRUE(t.awaits(1, "FOR UPDATE NOWAIT"));
  t.reply(1, rows({{"1", a_number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

// After a deadlock the transaction has gone, after KILL QUERY it has not.
TEST_F(mysql_for_update, a_wait_that_the_server_ended_is_begun_again) {
  for (const unsigned why : {deadlock, interrupted}) {
    server_fixture one("for-update");
    one.open();
    one.acquire(false);
    one.greet(1);
    one.reply(1, error(locked));
    one.reply(1, error(why));
    EXPECT_EQ(one.sink.take(), "");
    one.pass(1s);
    EXPECT_TRUE(one.awaits(1, "FOR UPDATE NOWAIT")) << why;
    one.reply(1, rows({{"1", a_number}}));
    EXPECT_EQ(one.sink.take(), "granted ");
    one.lock->release(nullptr);
    one.reply(1, {});
  }
}

TEST_F(mysql_for_update, a_reader_shares_the_row) {
  t.open();
  t.lock->acquire({.one_attempt = true, .ttl = 30s, .mode = lock_mode::shared, .at = t.now()});
  t.greet(1);
  EXPECT_TRUE(t.awaits(1, "LOCK IN SHARE MODE"));
  t.reply(1, rows({{"1", a_number}}));
  EXPECT_EQ(t.sink.take(), "granted ");
}

TEST_F(mysql_for_update, a_release_commits) {
  t.open();
  grant();
  t.lock->release(nullptr);
  EXPECT_EQ(t.statement(1), "COMMIT");
  t.reply(1, {});
  EXPECT_EQ(t.sink.take(), "ended ");
  EXPECT_EQ(t.statement(1), "") << "nothing is left to end";
}

}  // namespace
}  // namespace holdfast::mysql_unit
