#include "base/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

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

TEST(log_of_the_process, is_standard_error_and_begins_with_the_warnings) {
  // In a process of its own: other tests have set a hook.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        log(log_level::info, "a detail");
        log(log_level::warning, "a warning");
        log(log_level::error, "an error");
        ::_exit(0);
      },
      testing::ExitedWithCode(0), "^holdfast: a warning\nholdfast: an error\n$");
}

}  // namespace
}  // namespace holdfast::base
