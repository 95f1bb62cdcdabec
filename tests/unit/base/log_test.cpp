#include "base/log.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace holdfast::base {
namespace {

using namespace std::chrono_literals;

TEST(text_of_a_duration, is_in_milliseconds_below_one_second) {
  EXPECT_EQ(text_of(0ms), "0 ms");
  EXPECT_EQ(text_of(999ms), "999 ms");
  EXPECT_EQ(text_of(1000ms), "1 s");
  EXPECT_EQ(text_of(1600us), "2 ms") << "it is rounded";
}

TEST(text_of_a_duration, has_tenths_of_a_second_below_one_minute) {
  EXPECT_EQ(text_of(1049ms), "1 s");
  EXPECT_EQ(text_of(1050ms), "1.1 s");
  EXPECT_EQ(text_of(59'900ms), "59.9 s");
  EXPECT_EQ(text_of(60'100ms), "60 s");
}

}  // namespace
}  // namespace holdfast::base
