// Claims on rows: what becomes of statements whose claim has gone, and which reason a claim has
// that was given up.
#include "tests/unit/backend/mysql/server_fixture.hpp"

namespace holdfast::mysql_unit {
namespace {

class mysql_retrying : public testing::Test {
 protected:
  mysql_retrying() { t.open(); }
  std::unique_ptr<seam::claim> attempt(told& sink) {
    std::unique_ptr<seam::claim> out = t.s->open("job", sink);
    out->acquire({.one_attempt = true, .ttl = 30s, .at = t.now()});
    return out;
  }
  static std::string unavailable() {
    return "refused:" + make_error_code(errc::unavailable).message() + ' ';
  }
  server_fixture t{"row"};
};

TEST_F(mysql_retrying, a_statement_of_a_claim_that_has_gone_is_not_sent) {
  t.acquire();
  told gone;
  attempt(gone).reset();  // behind that of the other claim
  t.reply(0, granted_row(1));
  EXPECT_EQ(t.sink.take(), "granted ");
  EXPECT_EQ(t.statement(0), "");
}

TEST_F(mysql_retrying, a_lost_connection_is_killed_even_if_the_claim_of_its_statement_has_gone) {
  told gone;
  std::unique_ptr<seam::claim> claim = attempt(gone);
  ASSERT_TRUE(t.awaits(0, "grant_number="));
  claim.reset();
  t.cut(0);
  t.greet(1);
  EXPECT_EQ(t.statement(1), "KILL 100");
  EXPECT_EQ(gone.take(), "");
}

TEST_F(mysql_retrying, a_refused_try_is_not_the_reason_for_a_lost_connection) {
  t.acquire();
  t.reply(0, error(1114));
  t.pass(1s);
  ASSERT_TRUE(t.awaits(0, "grant_number="));
  t.cut(0, "reset by the network");
  t.pass(op_timeout);
  EXPECT_EQ(t.sink.take(), unavailable());
  EXPECT_EQ(t.sink.reason, "reset by the network");
}

TEST_F(mysql_retrying, an_attempt_whose_row_vanishes_each_time_has_a_reason) {
  t.acquire();
  for (base::duration waited{}; waited <= op_timeout && t.sink.words.empty(); waited += 10ms) {
    if (!t.statement(0).empty()) t.reply(0, {});
    t.pass(10ms);
  }
  EXPECT_EQ(t.sink.take(), unavailable());
  EXPECT_EQ(t.sink.reason, "no answer within the op-timeout");
}

TEST_F(mysql_retrying, a_release_that_the_server_refuses_each_time_has_its_reason) {
  t.acquire();
  t.reply(0, granted_row(1));
  EXPECT_EQ(t.sink.take(), "granted ");
  t.lock->release(nullptr);
  for (base::duration waited{}; waited <= op_timeout && t.sink.words.empty(); waited += 10ms) {
    if (!t.statement(0).empty()) t.reply(0, error(1142));
    t.pass(10ms);
  }
  EXPECT_EQ(t.sink.take(), "ended:" + make_error_code(errc::outcome_unknown).message() + ' ');
  EXPECT_NE(t.sink.reason.find("(error 1142)"), std::string::npos) << t.sink.reason;
}

// The pause before the next attempt to connect is longer than that.
TEST(mysql_outage, ends_the_wait_of_a_claim_after_the_outage_timeout) {
  mysql::settings terms = server_fixture::settings_of("row");
  terms.rules.outage_timeout = 300ms;
  server_fixture t(terms);
  t.open();
  for (int i = 0; i < 6; ++i) {
    if (i > 0) t.pass(5s);
    t.cut(t.connections.size() - 1, "nobody listens");
  }
  t.acquire(false);
  t.pass(299ms);
  EXPECT_EQ(t.sink.take(), "");
  t.pass(1ms);
  EXPECT_EQ(t.sink.take(), "refused:" + make_error_code(errc::unavailable).message() + ' ');
  EXPECT_EQ(t.sink.reason, "nobody listens");
}

}  // namespace
}  // namespace holdfast::mysql_unit
