#include "base/timer_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "testkit/manual_environment.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::base::time_point;
using holdfast::base::timer_queue;

struct recorder final : holdfast::base::timer {
  std::vector<time_point>* fired = nullptr;
  bool going = false;
  int times = 0;
  bool pin() noexcept override { return !going; }
  void fire(time_point now) override {
    ++times;
    if (fired) fired->push_back(now);
  }
};

class a_timer_queue : public ::testing::Test {
 protected:
  ~a_timer_queue() override { queue.stop(); }
  holdfast::testkit::manual_environment env;
  timer_queue queue{env, "test"};
};

TEST_F(a_timer_queue, fires_each_timer_once_and_in_order) {
  std::mt19937 random(7);
  std::vector<time_point> fired;
  std::vector<recorder> timers(500);
  for (recorder& t : timers) {
    t.fired = &fired;
    queue.arm_no_later(t, env.now() + std::chrono::milliseconds(random() % 1000));
  }
  env.advance(1s);
  EXPECT_EQ(fired.size(), timers.size());
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
  for (const recorder& t : timers) EXPECT_EQ(t.times, 1);
}

TEST_F(a_timer_queue, keeps_the_earlier_of_two_times) {
  recorder t;
  queue.arm_no_later(t, env.now() + 10s);
  queue.arm_no_later(t, env.now() + 1s);
  EXPECT_TRUE(queue.arm_no_later(t, env.now() + 5s)) << "it is armed, for an earlier time";
  env.advance(1s);
  EXPECT_EQ(t.times, 1);
  env.advance(20s);
  EXPECT_EQ(t.times, 1);
}

TEST_F(a_timer_queue, forgets_a_timer_that_is_disarmed) {
  std::vector<std::unique_ptr<recorder>> timers;
  for (int i = 0; i < 100; ++i) {
    timers.push_back(std::make_unique<recorder>());
    queue.arm_no_later(*timers.back(), env.now() + std::chrono::milliseconds(i));
  }
  for (int i = 0; i < 100; i += 3) queue.disarm(*timers[i]);
  for (int i = 0; i < 100; i += 3) timers[i].reset();
  env.advance(1s);
  for (int i = 0; i < 100; ++i) {
    if (timers[i]) {
      EXPECT_EQ(timers[i]->times, 1);
    }
  }
}

TEST_F(a_timer_queue, leaves_alone_a_timer_whose_owner_is_going) {
  recorder t;
  t.going = true;
  queue.arm_no_later(t, env.now());
  env.advance(1s);
  EXPECT_EQ(t.times, 0);
}

TEST_F(a_timer_queue, fires_nothing_after_stop) {
  recorder t;
  queue.arm_no_later(t, env.now() + 1s);
  queue.stop();
  EXPECT_TRUE(queue.arm_no_later(t, env.now())) << "no thread is missing";
  env.advance(2s);
  EXPECT_EQ(t.times, 0);
}

}  // namespace
