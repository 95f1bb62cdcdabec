#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/log.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(saturating_time, ends_with_never) {
  const time_point now{1000s};
  EXPECT_EQ(saturating_add(now, 5s), now + 5s);
  EXPECT_EQ(saturating_add(now, -5s), now - 5s);
  EXPECT_EQ(saturating_add(now, duration::max()), never);
  EXPECT_EQ(saturating_add(now, never - now), never);
  EXPECT_EQ(saturating_add(now, never - now - 1ns), never - 1ns);
}

TEST(jittered_time, is_around_its_middle_by_its_share_at_most) {
  testkit::manual_environment env;
  duration least = duration::max(), most{};
  for (int i = 0; i < 1000; ++i) {
    const duration d = jittered(env, 100ms, 0.2);
    least = std::min(least, d);
    most = std::max(most, d);
  }
  EXPECT_GE(least, 80ms);
  EXPECT_LT(least, 81ms);
  EXPECT_LE(most, 120ms);
  EXPECT_GT(most, 119ms);
}

TEST(jittered_time, is_never_negative_and_has_an_end) {
  testkit::manual_environment env;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(jittered(env, -1s, 0.2), 0s);
    EXPECT_EQ(jittered(env, 0s, 1.0), 0s);
    EXPECT_EQ(jittered(env, 5ms, 0), 5ms);
    EXPECT_GT(jittered(env, duration::max(), 0.5), duration::max() / 4);
  }
}

TEST(time_in_words, has_milliseconds_tenths_or_seconds) {
  EXPECT_EQ(text_of(0ms), "0 ms");
  EXPECT_EQ(text_of(1600us), "2 ms") << "rounded";
  EXPECT_EQ(text_of(999ms), "999 ms");
  EXPECT_EQ(text_of(1000ms), "1 s");
  EXPECT_EQ(text_of(1049ms), "1 s");
  EXPECT_EQ(text_of(1050ms), "1.1 s");
  EXPECT_EQ(text_of(4200ms), "4.2 s");
  EXPECT_EQ(text_of(59'900ms), "59.9 s");
  EXPECT_EQ(text_of(60'100ms), "60 s");
  EXPECT_EQ(text_of(75s), "75 s");
}

}  // namespace
}  // namespace holdfast::base
