// Timed waits and leases where the system has nothing left for the timers that end them.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <future>
#include <memory>
#include <semaphore>
#include <stop_token>
#include <thread>

#include "api/client_access.hpp"
#include "testkit/manual_environment.hpp"
#include "testkit/no_descriptors.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
constexpr auto generous = 30s;

// A wait for a lock that is held, on a thread of its own.
class timed_wait {
 public:
  explicit timed_wait(holdfast::mutex lock)
      : ends_(std::async(std::launch::async, [lock = std::move(lock), this] {
          std::error_code ec;
          EXPECT_FALSE(lock.try_acquire_for(10ms, {}, stop_.get_token(), ec));
          return ec;
        })) {}
  bool has_ended() const { return ends_.wait_for(0s) == std::future_status::ready; }
  // What it told; it is stopped when it does not end.
  std::error_code code() {
    EXPECT_EQ(ends_.wait_for(generous), std::future_status::ready) << "it has no end";
    stop_.request_stop();
    return ends_.get();
  }

 private:
  std::stop_source stop_;
  std::future<std::error_code> ends_;
};

TEST(without_a_descriptor, a_timed_wait_ends_in_time) {
  if (holdfast::testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  const holdfast::testkit::no_descriptors none;
  const auto client = holdfast::client::open("memory:");
  const auto held = client.mutex("job").acquire();
  EXPECT_EQ(timed_wait(client.mutex("job")).code(), std::error_code());
}

TEST(without_a_descriptor, a_loss_is_reported) {
  if (holdfast::testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "UBSan needs a descriptor";
  const holdfast::testkit::no_descriptors none;
  const auto client = holdfast::client::open("memory:");
  const auto lease =
      client.mutex("job").acquire({.ttl = 100ms, .renew = holdfast::renewal::manual});
  std::binary_semaphore is_lost{0};
  const std::stop_callback on_loss(lease.loss_token(), [&] { is_lost.release(); });
  EXPECT_TRUE(is_lost.try_acquire_for(generous));
}

class without_a_thread : public ::testing::Test {
 protected:
  without_a_thread() { env.have_threads(false); }
  holdfast::client open() {
    return holdfast::detail::client_access::open(holdfast::url::parse(store.url()), {}, env);
  }
  holdfast::memory_store store{"timer-shortage"};
  holdfast::testkit::manual_environment env;
};

TEST_F(without_a_thread, a_timed_wait_is_refused) {
  const auto holder = open(), other = open();
  const auto held = holder.mutex("job").acquire();
  ASSERT_TRUE(held);
  EXPECT_EQ(timed_wait(other.mutex("job")).code(), errc::unavailable);
  EXPECT_EQ(timed_wait(holder.mutex("job")).code(), errc::unavailable);
}

TEST_F(without_a_thread, a_timed_wait_is_timed_again_once_there_are_threads) {
  const auto holder = open(), other = open();
  const auto held = holder.mutex("job").acquire();
  EXPECT_EQ(timed_wait(other.mutex("job")).code(), errc::unavailable);
  env.have_threads(true);
  timed_wait again(other.mutex("job"));
  while (!again.has_ended()) {
    env.advance(1ms);
    std::this_thread::yield();
  }
  EXPECT_EQ(again.code(), std::error_code());
}

TEST_F(without_a_thread, a_wait_without_a_bound_goes_on) {
  const auto holder = open(), other = open();
  auto held = holder.mutex("job").acquire();
  auto next = std::async(std::launch::async, [&] { return other.mutex("job").acquire(); });
  EXPECT_EQ(timed_wait(other.mutex("job")).code(), errc::unavailable);
  held.release();
  EXPECT_TRUE(next.get());
}

}  // namespace
