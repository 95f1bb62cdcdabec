// Warnings of a Redlock client about one of its servers.
#include <gtest/gtest.h>

#include "testkit/heard_warnings.hpp"
#include "tests/unit/backend/redis/layouts/redlock/three_servers.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redlock_node, the_loss_of_a_server_is_a_warning_while_a_lock_is_held) {
  three_servers w;
  client c = w.open();
  for (const bool is_held : {false, true, false}) {
    testkit::heard_warnings heard;
    lease held;
    if (is_held) held = c.mutex("x").acquire();
    w.kill(w.third);
    w.pass(1s);
    EXPECT_EQ(heard.that_mention("the connection is lost"), is_held ? 1u : 0u) << heard.text();
    w.dead.clear();
    w.pass(70s);
  }
}

TEST(redlock_node, the_loss_of_a_server_is_a_warning_once_a_lock_is_wanted) {
  three_servers w;
  client c = w.open();
  w.kill(w.third);
  w.pass(1s);
  testkit::heard_warnings heard;
  lease held = c.mutex("x").acquire();
  w.pass(1s);
  EXPECT_EQ(heard.that_mention("the connection is lost"), 1u) << heard.text();
}

// It was restarted, and begins to vote when no lease from before can be valid.
TEST(redlock_node, a_server_that_may_vote_again_is_reported_without_a_request_for_a_lock) {
  three_servers w;
  client c = w.open("ttl=60s");
  testkit::heard_warnings heard;
  lease held = c.mutex("x").acquire({.renew = renewal::manual});
  w.third.restart(sim::kept::everything);
  w.pass(30s);
  held.extend(60s);
  EXPECT_EQ(heard.that_mention("temporarily refusing requests"), 1u) << heard.text();
  EXPECT_EQ(heard.that_mention("accepts requests again"), 0u) << heard.text();
  w.pass(50s);
  EXPECT_EQ(heard.that_mention("accepts requests again"), 1u) << heard.text();
}

}  // namespace
}  // namespace holdfast::redis
