#include <gtest/gtest.h>

#include <string>

#include "survey/load.hpp"
#include "survey/model.hpp"

namespace {

using namespace std::chrono_literals;
using survey::cell;
using survey::measurement;

cell cell_of_load(const std::string& load) {
  return {.topology = "redis", .lock = "lua", .load = load};
}

// The times of 1,000 acquisitions in one second.
cell one_run(const std::string& load, std::chrono::nanoseconds acquire,
             std::chrono::nanoseconds held, std::chrono::nanoseconds handoff) {
  cell c = cell_of_load(load);
  measurement m{.seconds = 1, .attempts = 1000, .acquired = 1000};
  for (int i = 0; i < 1000; ++i) {
    m.acquire.add(acquire);
    m.held.add(held);
    if (handoff > 0ns) m.handoff.add(handoff);
  }
  c.runs.push_back(m);
  return c;
}

constexpr double bucket_width = 0.025;  // of the measured times, as a part of them

void expect_near_part(double value, double expected) {
  EXPECT_NEAR(value, expected, expected * 2 * bucket_width);
}

TEST(survey_latencies, the_mean_and_the_variance_are_those_of_the_buckets) {
  survey::latencies times;
  EXPECT_EQ(times.mean_us(), 0);
  EXPECT_EQ(times.variance_us2(), 0);
  times.add(100us);
  times.add(300us);
  expect_near_part(times.mean_us(), 200);
  expect_near_part(times.variance_us2(), 10'000);
}

TEST(survey_model, a_busy_lock_is_granted_once_in_each_hold_and_hand_off) {
  survey::results r{.cells = {one_run("hot-16-1ms", 20ms, 1000us, 250us)}};
  const auto checks = survey::check_model(r);
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].what, "per second");
  expect_near_part(checks[0].model, 800);
  EXPECT_EQ(checks[0].measured, 1000);
}

TEST(survey_model, random_arrivals_wait_as_pollaczek_and_khinchine_say) {
  survey::results r{
      .cells = {one_run("free", 100us, 1us, 0ns), one_run("arrivals-50", 900us, 1990us, 10us)}};
  const auto checks = survey::check_model(r);
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].what, "success");
  EXPECT_EQ(checks[0].model, 1);
  expect_near_part(checks[1].utilisation, 0.5);
  EXPECT_EQ(checks[1].what, "acquire us");
  // 250 arrivals per second and 2 ms each: half of 2 ms, and half of the free lock's 100 us.
  EXPECT_NEAR(checks[1].model, 1050, 100);
  expect_near_part(checks[1].measured, 900);
}

TEST(survey_model, an_overloaded_lock_serves_the_part_that_fits) {
  survey::results r{.cells = {one_run("documents", 90ms, 3ms, 1ms)}};
  const auto checks = survey::check_model(r);
  ASSERT_EQ(checks.size(), 1u);
  expect_near_part(checks[0].utilisation, 2);
  expect_near_part(checks[0].model, 0.5);
}

TEST(survey_model, locks_that_nobody_waits_for_are_no_queue) {
  survey::results r{.cells = {one_run("free", 100us, 1us, 10us),
                              one_run("separate-64", 100us, 1us, 10us),
                              one_run("hot-16", 100us, 1us, 0ns), cell_of_load("hot-16-1ms"),
                              one_run("a load of another version", 1ms, 1ms, 1ms)}};
  EXPECT_TRUE(survey::check_model(r).empty());
}

TEST(survey_model, updates_that_hold_no_lock_are_no_queue) {
  cell c = one_run("hot-16", 1ms, 1us, 1ms);
  c.lock = "version";
  EXPECT_EQ(survey::handoffs_of(c).count(), 0u);
  EXPECT_TRUE(survey::check_model({.cells = {c}}).empty());
}

TEST(survey_loads, their_names_are_unique) {
  for (const survey::load& l : survey::loads()) EXPECT_EQ(survey::find_load(l.name), &l);
  EXPECT_EQ(survey::find_load("no such load"), nullptr);
}

}  // namespace
