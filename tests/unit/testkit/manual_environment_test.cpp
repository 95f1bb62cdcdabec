#include "testkit/manual_environment.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace holdfast::testkit {
namespace {

using namespace std::chrono_literals;

struct ringer final : base::alarm_target {
  std::function<void(base::time_point)> what = [](base::time_point) {};
  void on_alarm(base::time_point now) override { what(now); }
};

TEST(manual_environment, rings_in_the_order_of_time_with_the_clock_at_each_time) {
  manual_environment env;
  const auto start = env.now();
  ringer a, b;
  std::string order;
  a.what = [&](base::time_point t) {
    order += 'a';
    EXPECT_EQ(t, start + 2s);
    EXPECT_EQ(env.now(), t);
  };
  b.what = [&](base::time_point t) {
    order += 'b';
    EXPECT_EQ(t, start + 1s);
    EXPECT_EQ(env.now(), t);
  };
  auto first = env.make_alarm(a, "a");
  auto second = env.make_alarm(b, "b");
  first->set(start + 2s);
  second->set(start + 1s);
  env.advance(500ms);
  EXPECT_EQ(order, "");
  env.advance(2s);
  EXPECT_EQ(order, "ba");
  EXPECT_EQ(env.now(), start + 2500ms);
}

TEST(manual_environment, an_alarm_that_sets_itself_rings_again_within_one_advance) {
  manual_environment env;
  ringer r;
  int times = 0;
  std::unique_ptr<base::alarm> alarm;
  r.what = [&](base::time_point now) {
    ++times;
    alarm->set(now + 1s);
  };
  alarm = env.make_alarm(r, "r");
  alarm->set(env.now());
  env.advance(10s);
  EXPECT_EQ(times, 11);
}

TEST(manual_environment, a_cancelled_or_destroyed_alarm_does_not_ring) {
  manual_environment env;
  ringer r;
  int times = 0;
  r.what = [&](base::time_point) { ++times; };
  auto cancelled = env.make_alarm(r, "r");
  cancelled->set(env.now() + 1s);
  cancelled->set(base::never);
  {
    auto gone = env.make_alarm(r, "r");
    gone->set(env.now() + 1s);
  }
  EXPECT_EQ(env.alarms_set(), 0u);
  env.advance(2s);
  EXPECT_EQ(times, 0);
}

TEST(manual_environment, jobs_wait_for_run_jobs_or_the_end_of_an_advance) {
  manual_environment env;
  auto worker = env.make_worker("w");
  int ran = 0;
  worker->post([&] { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(env.run_jobs(), 1u);
  EXPECT_EQ(ran, 1);
  worker->post([&] { ++ran; });
  env.advance(0s);
  EXPECT_EQ(ran, 2);
}

TEST(manual_environment, an_alarm_that_a_job_sets_for_now_rings_in_the_same_advance) {
  manual_environment env;
  ringer r;
  bool rang = false;
  r.what = [&](base::time_point) { rang = true; };
  auto alarm = env.make_alarm(r, "r");
  auto worker = env.make_worker("w");
  worker->post([&] { alarm->set(env.now()); });
  env.advance(0s);
  EXPECT_TRUE(rang);
}

TEST(manual_environment, destroying_a_worker_runs_what_is_queued) {
  manual_environment env;
  int ran = 0;
  {
    auto worker = env.make_worker("w");
    worker->post([&] { ++ran; });
    worker->post([&] { ++ran; });
  }
  EXPECT_EQ(ran, 2);
}

TEST(manual_environment, freeze_finds_alarms_overdue) {
  manual_environment env;
  const auto start = env.now();
  ringer r;
  base::time_point rang{};
  r.what = [&](base::time_point t) { rang = t; };
  auto alarm = env.make_alarm(r, "r");
  alarm->set(start + 1s);
  env.freeze(5s);
  EXPECT_EQ(rang, base::time_point{});
  env.advance(0s);
  EXPECT_EQ(rang, start + 5s);
}

TEST(manual_environment, the_wall_moves_along_and_can_be_stepped) {
  manual_environment env;
  const auto before = env.wall();
  env.advance(3s);
  EXPECT_EQ(env.wall(), before + 3s);
  env.set_wall(before - 1h);
  env.advance(1s);
  EXPECT_EQ(env.wall(), before - 1h + 1s);
}

TEST(manual_environment, the_same_seed_draws_the_same) {
  std::array<std::byte, 16> a, b, c;
  manual_environment one(5), two(5), other(6);
  one.random(a);
  two.random(b);
  other.random(c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  two.random(b);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace holdfast::testkit
