#include <gtest/gtest.h>
#include <holdfast/clock.hpp>

#include <chrono>

namespace holdfast {
namespace {

using std::chrono::system_clock;

TEST(lease_clock, converts_a_time_to_the_same_distance_from_now) {
  const auto before = system_clock::now();
  const auto converted = lease_clock::to_sys(lease_clock::now() + std::chrono::hours{1});
  const auto after = system_clock::now();
  const auto duration_of_the_call = after - before;
  EXPECT_GE(converted, before + std::chrono::hours{1} - duration_of_the_call);
  EXPECT_LE(converted, after + std::chrono::hours{1});
}

TEST(lease_clock, converts_its_limits_to_those_of_the_system_clock) {
  EXPECT_EQ(lease_clock::to_sys(lease_clock::time_point::max()), system_clock::time_point::max());
  EXPECT_EQ(lease_clock::to_sys(lease_clock::time_point::min()), system_clock::time_point::min());
}

}  // namespace
}  // namespace holdfast
