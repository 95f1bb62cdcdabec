#include "backend/redis/transport/server_clock.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{100s};
constexpr server_time at_start{1'000'000s};

TEST(redis_server_clock, places_a_moment_of_the_server_never_too_late) {
  server_clock c;
  EXPECT_EQ(c.place(at_start), std::nullopt);
  c.note(start, at_start, start + 4ms);
  EXPECT_EQ(c.place(at_start), start);
  EXPECT_EQ(c.place(at_start + 10s), start + 9900ms);  // a hundredth for drift
  EXPECT_EQ(c.place(at_start - 1us), std::nullopt);    // set back
}

TEST(redis_server_clock, keeps_the_sample_that_was_sent_last) {
  server_clock c;
  c.note(start, at_start, start + 4ms);
  c.note(start - 1ms, at_start + 1s, start + 5ms);
  EXPECT_EQ(c.last_seen(), at_start);
  c.note(start + 1s, server_time::zero(), start + 2s);  // an answer without a time
  EXPECT_EQ(c.last_seen(), at_start);
  c.note(start + 1s, at_start + 1s, start + 1s + 4ms);
  EXPECT_EQ(c.last_seen(), at_start + 1s);
}

TEST(redis_server_clock, knows_how_old_its_sample_is) {
  server_clock c;
  EXPECT_FALSE(c.is_fresh(start, 1h));
  c.note(start, at_start, start + 4ms);
  EXPECT_TRUE(c.is_fresh(start + 99ms, 100ms));
  EXPECT_FALSE(c.is_fresh(start + 100ms, 100ms));
}

TEST(redis_server_clock, bounds_what_the_server_can_show_by_now) {
  server_clock c;
  EXPECT_EQ(c.latest(start), std::nullopt);
  c.note(start, at_start, start + 4ms);
  EXPECT_EQ(c.latest(start + 100s), at_start + 101s);
}

TEST(redis_server_clock, smooths_the_round_trip) {
  server_clock c;
  EXPECT_EQ(c.round_trip(), 0ms);
  c.note(start, at_start, start + 8ms);
  EXPECT_EQ(c.round_trip(), 8ms);
  c.note(start + 1s, at_start + 1s, start + 1s + 16ms);
  EXPECT_EQ(c.round_trip(), 9ms);
}

TEST(redis_server_clock, sees_a_jump_when_more_time_has_passed_there_than_here) {
  server_clock c;
  EXPECT_EQ(c.jump(start, at_start, start + 4ms), 0ms);  // the first
  EXPECT_EQ(c.jump(start + 10s, at_start + 10s, start + 10s + 4ms), 0ms);
  // Between the send before and this answer 10 s have passed here, and 20 s there.
  EXPECT_EQ(c.jump(start + 20s, at_start + 30s, start + 20s), 9800ms);
  EXPECT_EQ(c.jump(start + 30s, at_start + 20s, start + 30s), 0ms);  // set back
}

}  // namespace
}  // namespace holdfast::redis
