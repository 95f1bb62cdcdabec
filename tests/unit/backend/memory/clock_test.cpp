// The store in memory for users' tests: time moved by hand, leases that do not run out, closing.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <future>
#include <thread>

namespace {

using namespace std::chrono_literals;
using holdfast::errc;

TEST(memory_clock, a_lease_is_lost_at_once_when_its_ttl_is_over) {
  holdfast::memory_store store("clock-lost");
  const auto client = holdfast::client::open(store.url() + "?ttl=10m");
  const auto other = holdfast::client::open(store.url());
  const auto lease = client.mutex("job").acquire({.renew = holdfast::renewal::manual});
  const auto lost = lease.loss_token();
  EXPECT_FALSE(other.mutex("job").try_acquire());
  store.advance(9min);
  EXPECT_TRUE(lease.held()) << "no time has passed but this";
  EXPECT_LT(lease.expires() - holdfast::lease_clock::now(), 1min);
  store.advance(1min);
  EXPECT_FALSE(lease.held());
  EXPECT_EQ(lease.status(), errc::lost);
  EXPECT_TRUE(other.mutex("job").acquire()) << "and the store has let it go";
  while (!lost.stop_requested()) std::this_thread::yield();
}

TEST(memory_clock, a_renewal_comes_when_a_third_of_the_ttl_is_gone) {
  holdfast::memory_store store("clock-renewed");
  const auto client = holdfast::client::open(store.url() + "?ttl=1h");
  const auto lease = client.mutex("job").acquire();
  const auto before = lease.expires();
  store.advance(25min);
  while (lease.expires() <= before - 25min) std::this_thread::yield();
  store.advance(45min);
  EXPECT_TRUE(lease.held());
}

TEST(memory_clock, a_wait_ends_when_its_bound_is_over) {
  holdfast::memory_store store("clock-wait");
  const auto client = holdfast::client::open(store.url() + "?ttl=10h");
  const auto held = client.mutex("job").acquire();
  auto waiting = std::async(std::launch::async, [&] {
    return static_cast<bool>(client.mutex("job").try_acquire_for(1h));
  });
  while (waiting.wait_for(1ms) != std::future_status::ready) store.advance(10min);
  EXPECT_FALSE(waiting.get());
}

TEST(memory_clock, is_that_of_one_store) {
  holdfast::memory_store store("clock-one");
  holdfast::memory_store another("clock-another");
  const auto client = holdfast::client::open(another.url());
  const auto lease = client.mutex("job").acquire();
  store.advance(1h);
  store.advance(-1h);
  EXPECT_TRUE(lease.held());
}

TEST(memory_without_ttl, a_lease_does_not_run_out) {
  holdfast::memory_store store("no-ttl");
  const auto client = holdfast::client::open(store.url() + "?lifetime=process");
  EXPECT_FALSE(client.features().ttl);
  auto lease = client.mutex("job").acquire({.ttl = 10s});
  EXPECT_EQ(lease.expires(), holdfast::lease_clock::time_point::max());
  EXPECT_EQ(client.holders("job").at(0).expires_in, std::chrono::milliseconds::max());
  store.advance(24h * 366);
  EXPECT_TRUE(lease.held());
  const auto other = holdfast::client::open(store.url() + "?lifetime=process");
  EXPECT_FALSE(other.mutex("job").try_acquire());
  auto waiting = std::async(std::launch::async, [&] { return other.mutex("job").acquire(); });
  while (client.holders("job").at(0).waiting == 0) std::this_thread::yield();
  lease.release();
  const auto handed = waiting.get();
  store.advance(1h);
  EXPECT_TRUE(handed.held()) << "also when it was handed over";
  EXPECT_FALSE(client.mutex("job").try_acquire());
  EXPECT_TRUE(store.remove("job"));
  std::error_code ec;
  (void)holdfast::client::open("memory:x?lifetime=week", ec);
  EXPECT_EQ(ec, errc::bad_option);
}

TEST(memory_closing, waits_for_no_store_that_cannot_answer) {
  holdfast::memory_store store("closing-at-once");
  auto stopped = holdfast::client::open(store.url() + "?close-timeout=1h");
  auto in_outage = holdfast::client::open(store.url() + "?close-timeout=1h");
  const auto one = stopped.mutex("one").acquire();
  const auto two = in_outage.mutex("two").acquire();
  store.stop_requests_of(stopped);
  EXPECT_FALSE(stopped.close()) << "what it held is left behind";
  store.begin_outage();
  EXPECT_FALSE(in_outage.close());
  store.end_outage();
}

}  // namespace
