#include "bench/verdict.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using bench::kind;
using bench::plain;

TEST(bench_verdict, the_median_is_the_middle_whatever_the_order) {
  const auto odd = bench::spread_of({5, 1, 4, 2, 3});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.min, 1);
  EXPECT_EQ(odd.max, 5);
  EXPECT_EQ(bench::spread_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_THROW(bench::spread_of({}), std::invalid_argument);
}

TEST(bench_verdict, a_figure_has_four_digits_and_no_exponent) {
  EXPECT_EQ(plain(0.8312), "0.8312");
  EXPECT_EQ(plain(0.7), "0.7000");
  EXPECT_EQ(plain(1), "1.000");
  EXPECT_EQ(plain(12.3456), "12.35");
  EXPECT_EQ(plain(363'000.4), "363000");
  EXPECT_EQ(plain(0.000012345), "0.00001234");
  EXPECT_EQ(plain(-13.5), "-13.50");
  EXPECT_EQ(plain(0), "0.000");
  EXPECT_EQ(plain(1e21), "1000000000000000000000");
}

TEST(bench_verdict, what_is_no_number_is_never_printed_as_one) {
  EXPECT_THROW(plain(std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
  EXPECT_THROW(plain(std::numeric_limits<double>::infinity()), std::invalid_argument);
}

TEST(bench_verdict, a_rate_is_at_least_its_bar_and_a_cost_at_most) {
  EXPECT_TRUE(bench::meets(kind::rate, 0.7, 0.7));
  EXPECT_FALSE(bench::meets(kind::rate, 0.7, 0.69999));
  EXPECT_TRUE(bench::meets(kind::cost, 300, 300));
  EXPECT_FALSE(bench::meets(kind::cost, 300, 300.01));
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(bench::meets(kind::rate, 0.7, no_number));
  EXPECT_FALSE(bench::meets(kind::cost, 300, no_number));
}

TEST(bench_verdict, the_worse_of_two_is_the_lower_rate_and_the_higher_cost) {
  EXPECT_TRUE(bench::worse(kind::rate, 0.5, 0.6));
  EXPECT_FALSE(bench::worse(kind::rate, 0.6, 0.5));
  EXPECT_TRUE(bench::worse(kind::cost, 2.1, 2.0));
  EXPECT_FALSE(bench::worse(kind::cost, 2.0, 2.1));
}

}  // namespace
