#include "cohort/counters.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

namespace holdfast::cohort {
namespace {

using namespace std::chrono_literals;

TEST(cohort_counters, have_a_bucket_for_each_bound_and_one_for_what_is_above) {
  counters all;
  for (const auto bound : duration_histogram::bounds) {
    all.waited(lock_mode::exclusive, bound);
    all.held(lock_mode::shared, bound + 1ns);
  }
  const metrics m = all.read();
  constexpr std::size_t last = duration_histogram::bounds.size();
  for (std::size_t i = 0; i < last; ++i) {
    EXPECT_EQ(m.waits.exclusive.buckets[i], 1u) << i;
    EXPECT_EQ(m.holds.shared.buckets[i + 1], 1u) << i;
  }
  EXPECT_EQ(m.waits.exclusive.buckets[last], 0u);
  EXPECT_EQ(m.holds.shared.buckets[0], 0u);
}

TEST(cohort_counters, have_a_histogram_of_each_mode_and_of_the_lag) {
  counters all;
  all.waited(lock_mode::exclusive, 1s);
  all.waited(lock_mode::shared, 2s);
  all.waited(lock_mode::permit, 3s);
  all.held(lock_mode::exclusive, 4s);
  all.held(lock_mode::shared, 5s);
  all.held(lock_mode::permit, 6s);
  all.lagged(7s);
  all.lagged(-1s);
  const metrics m = all.read();
  EXPECT_TRUE(m.counted);
  EXPECT_EQ(m.waits.exclusive.sum, 1s);
  EXPECT_EQ(m.waits.shared.sum, 2s);
  EXPECT_EQ(m.waits.permit.sum, 3s);
  EXPECT_EQ(m.holds.exclusive.sum, 4s);
  EXPECT_EQ(m.holds.shared.sum, 5s);
  EXPECT_EQ(m.holds.permit.sum, 6s);
  EXPECT_EQ(m.renewal_lag.sum, 7s) << "a negative duration counts as none";
  EXPECT_EQ(m.renewal_lag.count(), 2u);
}

TEST(cohort_counters, count_a_failure_by_its_outcome) {
  counters all;
  all.failed(make_error_code(errc::timed_out));
  for (int i = 0; i < 2; ++i) all.failed(make_error_code(errc::unavailable));
  for (int i = 0; i < 3; ++i) all.failed(make_error_code(errc::lost));
  for (int i = 0; i < 4; ++i) all.failed(make_error_code(errc::bad_option));
  const metrics m = all.read();
  EXPECT_EQ(m.busy, 1u);
  EXPECT_EQ(m.errors_unavailable, 2u);
  EXPECT_EQ(m.errors_lost, 3u);
  EXPECT_EQ(m.errors_usage, 4u);
}

TEST(cohort_counters, keep_each_figure_for_itself) {
  counters all;
  const auto count = [&](counters::counter which, int times) {
    for (int i = 0; i < times; ++i) all.count(which);
  };
  count(counters::grants, 1);
  count(counters::grants_handed, 2);
  count(counters::local_handoffs, 3);
  count(counters::shares_joined, 4);
  count(counters::linger_reuses, 5);
  count(counters::renewals_sent, 6);
  count(counters::renewals_confirmed, 7);
  count(counters::doubts, 8);
  count(counters::losses, 9);
  const metrics m = all.read();
  EXPECT_EQ(m.grants, 1u);
  EXPECT_EQ(m.grants_handed, 2u);
  EXPECT_EQ(m.local_handoffs, 3u);
  EXPECT_EQ(m.shares_joined, 4u);
  EXPECT_EQ(m.linger_reuses, 5u);
  EXPECT_EQ(m.renewals_sent, 6u);
  EXPECT_EQ(m.renewals_confirmed, 7u);
  EXPECT_EQ(m.doubts, 8u);
  EXPECT_EQ(m.losses, 9u);
}

// More threads at once than have a page of their own.
TEST(cohort_counters, add_up_what_many_threads_count) {
  constexpr int threads = 100, times = 1000;
  counters all;
  {
    std::vector<std::jthread> counting;
    std::latch begun(threads);
    for (int i = 0; i < threads; ++i)
      counting.emplace_back([&] {
        all.count(counters::grants);
        begun.arrive_and_wait();
        for (int k = 1; k < times; ++k) all.count(counters::grants);
      });
  }
  EXPECT_EQ(all.read().grants, std::uint64_t{threads} * times);
}

}  // namespace
}  // namespace holdfast::cohort
