// Claims of a session that has ended for good: the servers do not accept its user.
#include "tests/unit/backend/zookeeper/layouts/layout_fixture.hpp"

namespace holdfast::zookeeper_unit {
namespace {

const char* const layouts_of_one[] = {"layout=curator", "layout=kazoo", "layout=curator-semaphore",
                                      "layout=node&unsafe=1"};

void refuse_user(layout_fixture& t) {
  t.give(replied(zookeeper::xid::auth, 0, zookeeper::error::auth_failed));
}

TEST(zookeeper_refused_session, refuses_each_claim_that_is_made_afterwards) {
  for (const char* const layout : layouts_of_one) {
    layout_fixture t(layout);
    refuse_user(t);
    t.claim->acquire({.permits = 1, .total_permits = 1});
    EXPECT_EQ(t.requests(), "") << layout;
    EXPECT_EQ(t.told.take(), "refused") << layout;
  }
}

TEST(zookeeper_refused_session, says_why_to_each_claim) {
  layout_fixture t;
  refuse_user(t);
  t.acquire();
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::refused);
  EXPECT_EQ(t.told.why.text, "the server does not accept the user and the password");
}

TEST(zookeeper_refused_session, refuses_those_that_ask) {
  for (const char* const layout : layouts_of_one) {
    layout_fixture t(layout);
    t.claim->acquire({.permits = 1, .total_permits = 1});
    EXPECT_EQ(t.told.take(), "") << layout;
    refuse_user(t);
    EXPECT_EQ(t.told.take(), "refused") << layout;
    t.claim->acquire({.permits = 1, .total_permits = 1});
    EXPECT_EQ(t.told.take(), "refused") << layout;
  }
}

TEST(zookeeper_refused_session, refuses_each_claim_of_a_client_that_is_closed) {
  for (const char* const layout : layouts_of_one) {
    layout_fixture t(layout);
    t.end_claims("the client was closed");
    t.claim->acquire({.permits = 1, .total_permits = 1});
    EXPECT_EQ(t.requests(), "") << layout;
    EXPECT_EQ(t.told.take(), "refused") << layout;
    EXPECT_EQ(t.told.why.code, errc::closed) << layout;
    EXPECT_EQ(t.told.why.text, "the client was closed") << layout;
  }
}

TEST(zookeeper_refused_session, is_still_the_reason_once_the_client_is_closed) {
  layout_fixture t;
  refuse_user(t);
  t.end_claims("the client was closed");
  t.acquire();
  EXPECT_EQ(t.told.take(), "refused");
  EXPECT_EQ(t.told.why.code, errc::refused);
}

}  // namespace
}  // namespace holdfast::zookeeper_unit
