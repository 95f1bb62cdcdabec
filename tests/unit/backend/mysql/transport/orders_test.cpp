// Statements of one lock are executed one after the other, whichever connections are free.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_orders : public testing::Test {
 protected:
  // Two connections of the commands, both idle.
  mysql_orders() {
    t.open();
    others = acquire_several(t, 2, [] {});
    t.greet(1);
    for (const std::size_t i : {0u, 1u}) t.reply(i, granted_row(1));
  }
  std::unique_ptr<seam::claim> attempt(const char* name, told& sink) {
    std::unique_ptr<seam::claim> out = t.s->open(name, sink);
    out->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    return out;
  }
  // One attempt on both "job" and "another", in one transaction.
  std::unique_ptr<seam::claim> attempt_both(told& sink) {
    std::unique_ptr<seam::claim> out = t.s->open("another", sink);
    const seam::lock_group group = seam::lock_group::of(2);
    for (seam::claim* const c : {t.lock.get(), out.get()})
      c->acquire({.one_attempt = true, .ttl = 30s, .group = group, .at = t.now()});
    return out;
  }
  void end_transaction(std::size_t over) {
    ASSERT_EQ(t.statement(over), "START TRANSACTION");
    t.reply(over, {});
    t.reply(over, rows({{"another owner", "5000000", "0"}}));
    ASSERT_EQ(t.statement(over), "ROLLBACK");
    t.reply(over, {});
  }

  server_fixture t{"row"};
  several_claims others;
  told sinks[3];
};

TEST_F(mysql_orders, each_lock_of_a_transaction_is_tried_after_it) {
  const auto whole = attempt_both(sinks[0]);
  ASSERT_EQ(t.statement(0), "START TRANSACTION");
  const auto one = attempt("job", sinks[1]), other = attempt("another", sinks[2]);
  EXPECT_EQ(t.statement(1), "") << "the transaction may take both locks";
  end_transaction(0);
  EXPECT_TRUE(t.awaits(0, "grant_number="));
  EXPECT_TRUE(t.awaits(1, "grant_number="));
  EXPECT_EQ(t.connections.size(), 2u);
}

TEST_F(mysql_orders, a_transaction_that_waits_is_not_overtaken) {
  const auto one = attempt("job", sinks[1]);
  ASSERT_TRUE(t.awaits(0, "grant_number="));
  const auto whole = attempt_both(sinks[0]);
  const auto other = attempt("another", sinks[2]);
  EXPECT_EQ(t.statement(1), "") << "the transaction is about this lock too, and came first";
  t.reply(0, granted_row(5));
  EXPECT_EQ(t.statement(1), "");
  end_transaction(0);
  EXPECT_TRUE(t.awaits(0, "grant_number=") || t.awaits(1, "grant_number="));
}

TEST_F(mysql_orders, another_lock_is_not_held_up_by_a_transaction) {
  const auto whole = attempt_both(sinks[0]);
  const auto third = attempt("a third", sinks[1]);
  EXPECT_TRUE(t.awaits(1, "grant_number="));
}

// The server may still execute what the lost connection has sent.
TEST_F(mysql_orders, while_a_lost_connection_is_killed_no_other_statement_is_sent) {
  const auto one = attempt("job", sinks[0]);
  ASSERT_TRUE(t.awaits(0, "grant_number="));
  t.cut(0);
  ASSERT_EQ(t.statement(1), "KILL 100");
  const auto other = attempt("another", sinks[1]);
  ASSERT_EQ(t.connections.size(), 3u);
  t.greet(2);
  EXPECT_EQ(t.statement(2), "");
  t.reply(1, error(1094));
  EXPECT_TRUE(t.awaits(1, "grant_number="));
  EXPECT_TRUE(t.awaits(2, "grant_number="));
}

// The locks of the first two claims are released together, over the connection that is free first.
TEST_F(mysql_orders, no_lock_of_a_shared_commit_is_tried_over_another_connection) {
  t.lock->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
  const auto third = attempt("third", sinks[0]);  // both connections are busy
  for (const auto& c : others.claims) c->release(nullptr);
  t.reply(0, granted_row(1));
  ASSERT_TRUE(t.statement(0).starts_with("SET TRANSACTION"));
  const auto one = attempt("lock0", sinks[1]), other = attempt("lock1", sinks[2]);
  t.reply(1, granted_row(1));
  EXPECT_EQ(t.statement(1), "") << "both wait for the releases";
  t.reply(0, committed({granted_row(1), granted_row(1)}));
  EXPECT_TRUE(t.awaits(0, "grant_number="));
}

// No caller waits for the reply to a renewal, nor drives its loop.
TEST_F(mysql_orders, a_renewal_wakes_the_thread_of_its_connection) {
  seam::claim& held = *others.claims[0];
  held.renew(30s, 1);
  t.greet(2);
  t.reply(2, granted_row(0));
  base::failure why;
  {
    const std::lock_guard guard(t.over.mutex());
    ASSERT_TRUE(t.over.reactor().start(base::driven_by::thread, why)) << why.text;
  }
  (void)t.net.take_log();
  const auto one = attempt("job", sinks[1]);
  EXPECT_EQ(t.net.take_log().find("own-flush"), std::string::npos) << "callers drive that loop";
  held.renew(30s, 2);
  EXPECT_NE(t.net.take_log().find("own-flush"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::mysql_unit
