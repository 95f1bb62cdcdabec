#include "base/short_lock.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "testkit/asleep.hpp"

namespace holdfast::base {
namespace {

TEST(short_lock, an_unlock_wakes_a_thread_that_sleeps_for_it) {
  short_lock lock;
  std::atomic<pid_t> waiting{0};
  std::atomic<bool> is_ours{true};
  bool was_ours = true;
  lock.lock();
  {
    std::jthread other([&] {
      waiting = ::gettid();
      waiting.notify_one();
      const std::lock_guard guard(lock);
      was_ours = is_ours;
    });
    waiting.wait(0);
    EXPECT_TRUE(testkit::falls_asleep(::getpid(), waiting));
    is_ours = false;
    lock.unlock();
  }
  EXPECT_FALSE(was_ours);
}

}  // namespace
}  // namespace holdfast::base
