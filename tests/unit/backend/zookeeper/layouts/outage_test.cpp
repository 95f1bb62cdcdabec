// When waiters are refused in an outage that lasts longer than the outage-timeout.
#include "tests/unit/backend/zookeeper/layouts/played_outage.hpp"

namespace holdfast::zookeeper_unit {
namespace {

using namespace std::chrono_literals;

TEST(zookeeper_outage, brings_the_leases_of_the_session_into_doubt) {
  played_outage t;
  t.be_granted();
  EXPECT_EQ(t.told.doubts, 0);
  t.lose();
  EXPECT_EQ(t.told.doubts, 1);
}

TEST(zookeeper_outage, ends_a_wait_after_the_outage_timeout) {
  played_outage t;
  t.acquire();
  t.last(8900ms);
  EXPECT_EQ(t.told.take(), "");
  t.last(200ms);
  EXPECT_EQ(t.told.take(), "refused");
}

TEST(zookeeper_outage, ends_a_later_wait_after_the_same_time) {
  played_outage t;
  t.last(8000ms);
  t.acquire();
  t.last(8900ms);
  EXPECT_EQ(t.told.take(), "")
      << "the outage has lasted longer than the outage-timeout, not the wait";
  t.last(200ms);
  EXPECT_EQ(t.told.take(), "refused");
}

// The pause between two attempts is up to two seconds by then.
TEST(zookeeper_outage, is_checked_once_more_shortly_before_a_wait_ends) {
  played_outage t;
  t.last(300ms);
  t.acquire();
  t.last(outage_timeout);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_TRUE(
      t.attempted_between(300ms + outage_timeout - last_attempt_lead, 300ms + outage_timeout));
}

TEST(zookeeper_outage, delays_the_request_of_a_claim_until_its_end) {
  layout_fixture t;
  t.lose();
  t.acquire();
  t.attach_again();
  EXPECT_EQ(t.sent_again(), "create exists");
}

TEST(zookeeper_outage, is_no_reason_for_what_a_later_server_does_not_answer) {
  played_outage t;
  t.move();
  t.claim->acquire({.one_attempt = true});
  EXPECT_EQ(t.requests(), "create exists");
  t.pass(1s);
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.text, "no answer within the op-timeout");
}

// The connection that is being made hangs, so no attempt fails meanwhile. What the waiter has
// requested was answered, so no reply is overdue either.
TEST(zookeeper_outage, ends_a_wait_in_time_while_a_server_does_not_answer) {
  layout_fixture t("outage-timeout=1s");
  t.acquire();
  EXPECT_EQ(t.requests(), "create exists");
  const std::string own = t.own_name("0000000002");
  t.answer(5, layout_fixture::created(own));
  t.answer(5, layout_fixture::stat(1, 2, 5));
  EXPECT_EQ(t.requests(), "list");
  t.answer(5, layout_fixture::children({"_c_a-lock-0000000001", own}));
  EXPECT_EQ(t.requests(), "watch watch");
  t.answer(5, layout_fixture::data(3));
  t.answer(5, layout_fixture::data(5));
  t.pass(1s);
  t.lose();
  t.pass(950ms);
  EXPECT_EQ(t.told.take(), "");
  t.pass(100ms);
  EXPECT_EQ(t.told.take(), "refused");
}

TEST(zookeeper_outage, ends_an_attempt_once_each_server_has_been_tried_since) {
  layout_fixture t("", "a,b");
  t.claim->acquire({.one_attempt = true});
  EXPECT_EQ(t.requests(), "create exists");
  for (int lost = 0; lost < 2; ++lost) {
    t.lose();
    EXPECT_EQ(t.told.take(), "") << "the other server may answer";
  }
  t.lose();
  EXPECT_EQ(t.told.take(), "refused");
}

TEST(zookeeper_outage, ends_no_release_before_the_op_timeout) {
  played_outage t;
  t.be_granted({.one_attempt = true});
  t.told.take();
  t.claim->release(nullptr);
  t.last(700ms);
  EXPECT_GE(t.attempts(), 2u);
  EXPECT_EQ(t.told.take(), "") << "the server may confirm it yet";
  t.last(200ms);
  EXPECT_EQ(t.told.take(), "ended");
  EXPECT_EQ(t.told.why.code, errc::outcome_unknown);
}

// Otherwise each client with a waiter would connect without a pause.
TEST(zookeeper_outage, is_not_checked_more_often_because_a_claim_waits) {
  played_outage t;
  t.acquire();
  t.last(8000ms);
  EXPECT_GE(t.attempts(), 5u);
  EXPECT_LE(t.attempts(), 20u);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
