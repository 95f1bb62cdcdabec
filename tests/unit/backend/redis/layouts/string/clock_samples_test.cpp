// How often a client with waiters asks for the server's time.
#include <gtest/gtest.h>

#include "tests/unit/backend/redis/layouts/two_nodes.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

// The op-timeout is 2 s.
struct redis_clock_samples : testing::Test, two_nodes {
  redis_clock_samples() {
    pass();
    world.changed = [this](std::string bytes) {
      times_ += bytes.starts_with("*2\r\n$10\r\n");
      return bytes;
    };
  }
  recorded_claim& waiting(std::string_view lock) {
    recorded_claim& c = claim_on(lock);
    c.acquire();
    return c;
  }
  int asked_in(base::duration d) {
    times_ = 0;
    pass(d);
    return times_;
  }

 private:
  int times_ = 0;
};

TEST_F(redis_clock_samples, are_rare_while_no_lock_is_handed_over) {
  held("first-job");
  waiting("first-job");
  EXPECT_GE(asked_in(1s), 6);
  pass();
  const int asked = asked_in(4s);
  EXPECT_GE(asked, 7);
  EXPECT_LE(asked, 9);
}

TEST_F(redis_clock_samples, are_frequent_after_a_hand_over) {
  recorded_claim& holder = held("first-job");
  recorded_claim& next = waiting("first-job");
  waiting("first-job");
  pass(4s);
  holder.release();
  pass(1ms);
  ASSERT_EQ(next.log, "granted ");
  next.renew(1);
  EXPECT_GE(asked_in(1s), 6);
}

TEST_F(redis_clock_samples, end_with_the_last_waiter) {
  recorded_claim& holder = held("first-job");
  recorded_claim& next = waiting("first-job");
  pass();
  holder.release();
  pass();
  ASSERT_EQ(next.log, "granted ");
  EXPECT_EQ(asked_in(4s), 0);
}

}  // namespace
}  // namespace holdfast::redis
