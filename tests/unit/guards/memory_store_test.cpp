// The faults that a program can play in its own store.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>
#include <holdfast/memory.hpp>

#include <chrono>
#include <future>
#include <string>
#include <thread>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

class memory_store_faults : public testing::Test {
 protected:
  client open(const std::string& more = "ttl=1h") const {
    return client::open(store.url() + '?' + more);
  }
  // A thread that waits for the lock until it has it.
  std::future<lease> next(const client& c, const std::string& name) {
    auto out = std::async(std::launch::async, [c, name] { return c.mutex(name).acquire(); });
    for (;;) {
      const auto all = c.holders(name);
      if (!all.empty() && all.front().waiting == 1) return out;
      std::this_thread::yield();
    }
  }

  memory_store store{testing::UnitTest::GetInstance()->current_test_info()->name()};
  const client mine = open(), other = open();
};

TEST_F(memory_store_faults, a_failover_forgets_what_came_after_the_snapshot) {
  const auto kept = mine.mutex("kept").acquire();
  store.snapshot();
  const auto forgotten = mine.mutex("forgotten").acquire();
  auto waiter = next(other, "forgotten");
  store.fail_over();
  ASSERT_EQ(waiter.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(waiter.get().held());
  EXPECT_FALSE(other.mutex("kept").try_acquire());
}

TEST_F(memory_store_faults, an_empty_restart_forgets_all) {
  const auto held = mine.mutex("job").acquire();
  store.snapshot();
  auto waiter = next(other, "job");
  store.restart_empty();
  ASSERT_EQ(waiter.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(waiter.get().held());
}

TEST_F(memory_store_faults, stopped_requests_are_those_of_one_client) {
  const client stopped = open("op-timeout=200ms");
  store.stop_requests_of(stopped);
  std::error_code ec;
  EXPECT_FALSE(stopped.mutex("job").try_acquire({}, ec));
  EXPECT_EQ(ec, errc::unavailable);
  EXPECT_TRUE(mine.mutex("job").try_acquire());
  store.resume_requests_of(stopped);
  EXPECT_TRUE(stopped.mutex("job").try_acquire_for(30s));
}

TEST_F(memory_store_faults, a_removed_lock_is_granted_to_the_next) {
  EXPECT_FALSE(store.remove("job")) << "nobody has it";
  const auto held = mine.mutex("job").acquire();
  auto waiter = next(other, "job");
  EXPECT_TRUE(store.remove("job"));
  ASSERT_EQ(waiter.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(waiter.get().held());
}

}  // namespace
}  // namespace holdfast
