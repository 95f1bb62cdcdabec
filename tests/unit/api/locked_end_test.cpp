// A lock that is destroyed while it is held ends the program, and says which it was.
#include <gtest/gtest.h>
#include <holdfast/client.hpp>
#include <holdfast/log.hpp>
#include <holdfast/shared_mutex.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

namespace {

using namespace holdfast;

void to_standard_error(log_level, std::string_view line, void*) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

TEST(locked_end_DeathTest, names_the_lock_that_is_destroyed) {
  EXPECT_DEATH(
      {
        set_log_hook(to_standard_error);
        const auto lock = std::make_unique<mutex>(client::open("memory:").mutex("nightly"));
        lock->lock();
      },
      "the locked lock \"nightly\" is destroyed: unlock it first");
  EXPECT_DEATH(
      {
        set_log_hook(to_standard_error);
        shared_mutex lock = client::open("memory:").shared_mutex("table");
        lock.lock_shared();
        lock = client::open("memory:").shared_mutex("other");
      },
      "the locked lock \"table\" is destroyed: unlock it first");
  EXPECT_DEATH(
      {
        set_log_hook(to_standard_error);
        shared_mutex lock = client::open("memory:").shared_mutex("downgraded");
        const auto share = lock.downgrade(std::unique_lock(lock));
        lock = client::open("memory:").shared_mutex("other");
      },
      "the locked lock \"downgraded\" is destroyed: unlock it first");
}

TEST(a_lock_that_is_not_locked, may_be_replaced_by_another) {
  const client c = client::open("memory:");
  shared_mutex lock = c.shared_mutex("table");
  lock.lock();
  lock.unlock();
  lock = c.shared_mutex("other");
  EXPECT_EQ(lock.name(), "other");
  const shared_mutex moved = std::move(lock);
  lock = c.shared_mutex("another");
  EXPECT_EQ(lock.name(), "another");
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
