#include "base/parker.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

std::atomic<int> shared_word{0};  // lives as long as the process, as such a word must

// While it rings, who was appointed goes to sleep.
class waker_that_waits final : public base::loop_waker {
 public:
  explicit waker_that_waits(base::parker& p) : parker_(p) {}
  void wake() noexcept override {
    slept_ = std::async(std::launch::async, [this] { parker_.park({&shared_word, 2}); });
    std::this_thread::sleep_for(50ms);  // it has slept by then, most of the time
  }
  bool is_awake() const { return slept_.wait_for(30s) == std::future_status::ready; }

 private:
  base::parker& parker_;
  std::future<void> slept_;
};

TEST(parker, is_woken_when_it_was_appointed_and_signalled_before_it_slept) {
  base::parker p;
  waker_that_waits waker(p);
  ASSERT_TRUE(p.promote(waker));
  p.signal();
  const bool is_awake = waker.is_awake();
  EXPECT_TRUE(is_awake);
  if (!is_awake) base::wake_target{&shared_word, 2}.wake();  // else the test would not end
}

TEST(parker, that_has_its_answer_is_not_promoted) {
  base::parker p, waiting;
  waker_that_waits waker(p);
  p.signal();
  EXPECT_FALSE(p.promote(waker));
  EXPECT_TRUE(waiting.promote(waker));
}

struct counted_end final : base::end_of_batch {
  int ended = 0;
  void batch_ended() noexcept override { ++ended; }
};

TEST(a_wake_batch, runs_what_is_to_follow_it_at_its_end_or_without_a_batch_at_once) {
  counted_end follower;
  base::wake_batch::then(follower);
  EXPECT_EQ(follower.ended, 1);
  {
    const base::wake_batch batch(8);
    base::wake_batch::then(follower);
    EXPECT_EQ(follower.ended, 1);
  }
  EXPECT_EQ(follower.ended, 2);
}

}  // namespace
}  // namespace holdfast
