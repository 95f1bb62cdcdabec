#include "backend/redis/transport/server_clock.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point begin_time{100s};
constexpr server_time first_sample{1'000'000s};

TEST(redis_server_clock, places_a_moment_of_the_server_never_too_late) {
  server_clock c;
  EXPECT_EQ(c.place(first_sample), std::nullopt);
  c.note(begin_time, first_sample, begin_time + 4ms);
  EXPECT_EQ(c.place(first_sample), begin_time);
  EXPECT_EQ(c.place(first_sample + 10s), begin_time + 9900ms);  // a hundredth for drift
  EXPECT_EQ(c.place(first_sample - 1us), std::nullopt);         // set back
}

TEST(redis_server_clock, keeps_the_sample_that_was_sent_last) {
  server_clock c;
  c.note(begin_time, first_sample, begin_time + 4ms);
  c.note(begin_time - 1ms, first_sample + 1s, begin_time + 5ms);
  EXPECT_EQ(c.last_seen(), first_sample);
  c.note(begin_time + 1s, server_time::zero(), begin_time + 2s);  // an answer without a time
  EXPECT_EQ(c.last_seen(), first_sample);
  c.note(begin_time + 1s, first_sample + 1s, begin_time + 1s + 4ms);
  EXPECT_EQ(c.last_seen(), first_sample + 1s);
}

TEST(redis_server_clock, knows_how_old_its_sample_is) {
  server_clock c;
  EXPECT_FALSE(c.is_fresh(begin_time, 1h));
  c.note(begin_time, first_sample, begin_time + 4ms);
  EXPECT_TRUE(c.is_fresh(begin_time + 99ms, 100ms));
  EXPECT_FALSE(c.is_fresh(begin_time + 100ms, 100ms));
}

TEST(redis_server_clock, bounds_what_the_server_can_show_by_now) {
  server_clock c;
  EXPECT_EQ(c.latest(begin_time), std::nullopt);
  c.note(begin_time, first_sample, begin_time + 4ms);
  EXPECT_EQ(c.latest(begin_time + 100s), first_sample + 101s);
}

TEST(redis_server_clock, smooths_the_round_trip) {
  server_clock c;
  EXPECT_EQ(c.round_trip(), 0ms);
  c.note(begin_time, first_sample, begin_time + 8ms);
  EXPECT_EQ(c.round_trip(), 8ms);
  c.note(begin_time + 1s, first_sample + 1s, begin_time + 1s + 16ms);
  EXPECT_EQ(c.round_trip(), 9ms);
}

TEST(redis_server_clock, sees_a_jump_when_more_time_has_passed_there_than_here) {
  server_clock c;
  EXPECT_EQ(c.jump(begin_time, first_sample, begin_time + 4ms), 0ms);  // the first
  EXPECT_EQ(c.jump(begin_time + 10s, first_sample + 10s, begin_time + 10s + 4ms), 0ms);
  // Between the send before and this answer 10 s have passed here, and 20 s there.
  EXPECT_EQ(c.jump(begin_time + 20s, first_sample + 30s, begin_time + 20s), 9800ms);
  EXPECT_EQ(c.jump(begin_time + 30s, first_sample + 20s, begin_time + 30s), 0ms);  // set back
}

}  // namespace
}  // namespace holdfast::redis
