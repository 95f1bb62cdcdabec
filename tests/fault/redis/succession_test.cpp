// A release and who asks next, in the same write.
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_succession : public on_redis {
 protected:
  // The lock is held, wanted by b, and let go for `next`.
  void let_go_for(const seam::acquire_request& how) {
    ASSERT_TRUE(held.get(alone()));
    waits.ask(alone());
    ASSERT_TRUE(held.heard.hears('w'));
    held.release_to(next, how);
    EXPECT_TRUE(waits.heard.hears('g'));
    waits.is_granted();
  }
  redis_server server;
  peer a{server.url()}, b{server.url()};
  test_claim held{a, "x"}, next{a, "x"}, waits{b, "x"};
};

TEST_F(redis_succession, a_successor_is_queued_behind_the_waiters) {
  let_go_for(alone());
  EXPECT_FALSE(next.heard.heard('g'));
  EXPECT_TRUE(waits.release());
  EXPECT_TRUE(next.heard.hears('g'));
  next.is_granted();
}

TEST_F(redis_succession, one_attempt_is_not_queued) {
  let_go_for(once(alone()));
  EXPECT_EQ(next.heard.hears_any("gr"), 'r');
  EXPECT_EQ(next.heard.failure().code, errc::timed_out);
}

}  // namespace
}  // namespace holdfast::redis_test
