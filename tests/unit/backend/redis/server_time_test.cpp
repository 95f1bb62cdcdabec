// Times and numbers of a server, at their bounds.
#include "backend/redis/server_time.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

TEST(redis_server_time, is_positive_and_a_number_that_scripts_compute_with) {
  EXPECT_EQ(number_max, 9'007'199'254'740'991);
  EXPECT_EQ(server_time_of(1), 1us);
  EXPECT_EQ(server_time_of(number_max), server_time{number_max});
  EXPECT_EQ(server_time_of(number_max + 1), 0us);
  EXPECT_EQ(server_time_of(0), 0us);
  EXPECT_EQ(server_time_of(-1), 0us);
}

TEST(redis_server_time, a_span_is_sent_in_milliseconds_rounded_up) {
  EXPECT_EQ(in_ms(30s), 30'000);
  EXPECT_EQ(in_ms(1ms + 1ns), 2);
  EXPECT_EQ(in_ms(0s), 0);
}

TEST(redis_server_time, a_span_without_an_end_or_with_one_that_cannot_be_has_none) {
  EXPECT_EQ(span_of(0), 0ms);
  EXPECT_EQ(span_of(1500), 1500ms);
  EXPECT_EQ(span_of(-1), duration::max());
  constexpr std::int64_t most = 9'223'372'036'854;  // of milliseconds in the range of a duration
  EXPECT_EQ(span_of(most), std::chrono::milliseconds{most});
  EXPECT_EQ(span_of(most + 1), duration::max());
  EXPECT_EQ(span_of(std::numeric_limits<std::int64_t>::max()), duration::max());
}

}  // namespace
}  // namespace holdfast::redis
