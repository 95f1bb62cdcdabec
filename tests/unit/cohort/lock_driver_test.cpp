// Which loop a blocked caller drives, where each lock of a client has a loop of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "testkit/fake_store.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

// Its callers sleep.
class counted_driver final : public base::caller_driver {
 public:
  void run_until_signalled(base::parker& p) override {
    note_wait();
    p.park();
  }
  void sleep_until_signalled(base::follower& f) override {
    note_wait();
    f.parker.park();
  }
  void enlist(base::follower& f) noexcept override {
    f.is_enlisted = true;
    ++enlisted;
  }
  void attend() noexcept override { ++attended; }
  void await_wait() const { waits.wait(0); }

  std::atomic<int> waits = 0, enlisted = 0, attended = 0;

 private:
  void note_wait() {
    ++waits;
    waits.notify_all();
  }
};

class lock_driver : public testing::Test {
 protected:
  lock_driver() {
    testkit::fake_store::of(c).give_loop("first", first);
    testkit::fake_store::of(c).give_loop("second", second);
  }
  testkit::manual_environment env;
  counted_driver first, second;
  const client c = testkit::fake_store::open(seam::lifetime::session, env);
};

TEST_F(lock_driver, a_blocked_caller_drives_the_loop_of_the_lock_that_it_waits_for) {
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  std::jthread waiter([&] { (void)c.mutex("second").acquire(); });
  second.await_wait();
  EXPECT_EQ(second.enlisted, 1);
  EXPECT_EQ(first.waits, 0);
  held.unlock();
  waiter.join();
  EXPECT_EQ(first.waits + first.attended, 0);
}

TEST_F(lock_driver, a_caller_of_several_locks_drives_the_loop_of_the_next_one) {
  lease held = c.mutex("another").acquire();  // the store takes all names for one lock
  std::jthread waiter([&] { (void)c.acquire_all({"second"}); });
  second.await_wait();
  EXPECT_EQ(second.enlisted, 1);
  held.unlock();
  waiter.join();
  EXPECT_EQ(first.waits, 0);
}

}  // namespace
}  // namespace holdfast
