#include "base/timer_heap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>
#include <vector>

namespace {

using namespace std::chrono_literals;
using holdfast::base::duration;
using holdfast::base::heap_timer;
using holdfast::base::never;
using holdfast::base::time_point;
using holdfast::base::timer_heap;

struct sleeper final : heap_timer {
  int number = 0;
};

constexpr time_point at(duration d) { return time_point(d); }

class a_timer_heap : public ::testing::Test {
 protected:
  a_timer_heap() {
    for (int i = 0; i < 100; ++i) {
      sleepers.emplace_back();
      sleepers.back().number = i;
    }
  }
  ~a_timer_heap() override {
    for (sleeper& s : sleepers) heap.set(s, never);
  }
  std::vector<int> taken(time_point now) {
    std::vector<int> out;
    while (heap_timer* const t = heap.take_due(now)) {
      EXPECT_FALSE(t->is_set());
      out.push_back(static_cast<sleeper*>(t)->number);
    }
    return out;
  }
  std::deque<sleeper> sleepers;
  timer_heap heap;
};

TEST_F(a_timer_heap, gives_out_what_is_due_by_time_and_keeps_the_rest) {
  heap.set(sleepers[1], at(3s));
  heap.set(sleepers[2], at(1s));
  heap.set(sleepers[3], at(2s));
  EXPECT_EQ(heap.next(), at(1s));
  EXPECT_EQ(taken(at(2s)), (std::vector{2, 3}));
  EXPECT_EQ(heap.next(), at(3s));
  EXPECT_EQ(sleepers[1].at(), at(3s));
  EXPECT_EQ(sleepers[2].at(), never);
}

TEST_F(a_timer_heap, wakes_those_of_one_time_in_the_order_in_which_they_were_set) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) order.push_back(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  for (const int i : order) heap.set(sleepers[i], at(1s));
  EXPECT_EQ(taken(at(1s)), order);
}

TEST_F(a_timer_heap, keeps_the_order_of_a_timer_that_is_set_to_its_time_again) {
  for (int i = 0; i < 3; ++i) heap.set(sleepers[i], at(1s));
  heap.set(sleepers[0], at(1s));
  EXPECT_EQ(taken(at(1s)), (std::vector{0, 1, 2}));
}

TEST_F(a_timer_heap, puts_a_timer_that_was_moved_behind_those_of_its_new_time) {
  for (int i = 0; i < 3; ++i) heap.set(sleepers[i], at(1s));
  heap.set(sleepers[0], at(5s));
  heap.set(sleepers[0], at(1s));
  EXPECT_EQ(taken(at(1s)), (std::vector{1, 2, 0}));
}

TEST_F(a_timer_heap, never_gives_out_a_timer_that_was_cancelled) {
  for (int i = 0; i < 3; ++i) heap.set(sleepers[i], at(1s));
  heap.set(sleepers[1], never);
  heap.set(sleepers[1], never);
  EXPECT_EQ(taken(at(1s)), (std::vector{0, 2}));
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(heap.next(), never);
}

// Against the plain meaning: the smallest (time, order of setting) of those that are set.
TEST_F(a_timer_heap, agrees_with_a_sorted_list_whatever_is_set_moved_and_cancelled) {
  std::mt19937 random(11);
  std::vector<std::tuple<time_point, int, int>> model;  // time, order, number
  const auto forget = [&](int number) {
    std::erase_if(model, [&](const auto& m) { return std::get<2>(m) == number; });
  };
  time_point now{};
  for (int step = 0; step < 20'000; ++step) {
    sleeper& s = sleepers[random() % sleepers.size()];
    const auto what = random() % 10;
    if (what < 6) {
      const time_point t = now + std::chrono::seconds(random() % 8);
      if (s.at() != t) {
        forget(s.number);
        model.emplace_back(t, step, s.number);
      }
      heap.set(s, t);
    } else if (what < 8) {
      forget(s.number);
      heap.set(s, never);
    } else {
      now += 1s;
      std::vector<int> due;
      std::sort(model.begin(), model.end());
      for (const auto& [t, order, number] : model)
        if (t <= now) due.push_back(number);
      for (const int number : due) forget(number);
      ASSERT_EQ(taken(now), due) << "step " << step;
    }
    const auto first = std::min_element(model.begin(), model.end());
    ASSERT_EQ(heap.next(), first == model.end() ? never : std::get<0>(*first)) << "step " << step;
  }
}

}  // namespace
