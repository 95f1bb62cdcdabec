// The parts of shared_mutex that no store sees, over a store in memory.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <future>
#include <shared_mutex>
#include <thread>

#include "testkit/thrown_by.hpp"

namespace {

using namespace std::chrono_literals;
using holdfast::errc;
using holdfast::testkit::thrown_by;

struct a_shared_mutex : ::testing::Test {
  holdfast::client client = holdfast::client::open("memory:");
  holdfast::shared_mutex m = client.shared_mutex("job");

  template <class Call>
  auto elsewhere(Call call) {
    return std::async(std::launch::async, call).get();
  }
};

TEST_F(a_shared_mutex, serves_the_locks_of_the_standard_library) {
  {
    const std::shared_lock reader(m);
    EXPECT_TRUE(elsewhere([&] { return std::shared_lock(m, std::try_to_lock).owns_lock(); }));
    EXPECT_TRUE(elsewhere([&] { return std::shared_lock(m, 10s).owns_lock(); }));
    EXPECT_FALSE(elsewhere([&] { return std::unique_lock(m, std::try_to_lock).owns_lock(); }));
  }
  const std::unique_lock writer(m);
  EXPECT_TRUE(m.current().held());
  EXPECT_FALSE(elsewhere([&] { return std::shared_lock(m, 1ms).owns_lock(); }));
}

TEST_F(a_shared_mutex, is_not_upgraded_by_its_own_thread_which_gets_an_error) {
  m.lock_shared();
  EXPECT_EQ(thrown_by([&] { m.lock(); }), errc::would_self_deadlock);
  EXPECT_FALSE(m.try_lock());
  m.unlock_shared();
  m.lock();
  EXPECT_EQ(thrown_by([&] { m.lock_shared(); }), errc::would_self_deadlock);
  EXPECT_FALSE(m.try_lock_shared());
  m.unlock();
}

TEST_F(a_shared_mutex, releases_the_share_of_the_calling_thread) {
  holdfast::shared_mutex other = client.shared_mutex("job");
  m.lock_shared();
  m.lock_shared();
  other.lock_shared();
  m.unlock_shared();
  other.unlock_shared();
  EXPECT_FALSE(elsewhere([&] { return m.try_lock(); })) << "it was taken twice";
  m.unlock_shared();
  EXPECT_TRUE(elsewhere([&] {
    const bool free = m.try_lock();
    if (free) m.unlock();
    return free;
  }));
}

TEST_F(a_shared_mutex, of_a_thread_that_ends_is_given_back) {
  holdfast::shared_mutex left = client.shared_mutex("left");
  std::jthread([&] { left.lock_shared(); }).join();
  EXPECT_TRUE(client.shared_mutex("left").try_acquire());
  EXPECT_NO_THROW(left.unlock_shared()) << "this thread has none";
}

TEST_F(a_shared_mutex, a_lease_of_another_lock_is_not_downgraded_and_stays) {
  auto other = client.mutex("other").acquire();
  EXPECT_EQ(thrown_by([&] { (void)m.downgrade(std::move(other)); }), errc::mismatch);
  EXPECT_TRUE(other.held());
  auto share = m.acquire_shared();
  EXPECT_EQ(thrown_by([&] { (void)m.downgrade(std::move(share)); }), errc::mismatch);
  EXPECT_TRUE(share.held());
  EXPECT_EQ(thrown_by([&] { (void)m.downgrade({}); }), errc::not_held);
}

TEST(a_lost_shared_mutex, is_not_downgraded_and_that_reports_the_loss) {
  holdfast::memory_store store("a lost shared mutex");
  const auto client = holdfast::client::open(store.url());
  holdfast::shared_mutex m = client.shared_mutex("job");
  std::unique_lock writer(m);
  store.advance(1h);
  std::error_code ec;
  EXPECT_FALSE(m.downgrade(std::move(writer), ec).owns_lock());
  EXPECT_EQ(ec, errc::lost);
}

TEST_F(a_shared_mutex, a_unique_lock_that_does_not_own_it_downgrades_nothing) {
  holdfast::shared_mutex other = client.shared_mutex("other");
  const std::unique_lock writer(m);
  std::unique_lock of_other(other);
  EXPECT_EQ(thrown_by([&] { (void)m.downgrade(std::move(of_other)); }), errc::not_held);
  EXPECT_TRUE(of_other.owns_lock());
  std::error_code ec;
  EXPECT_FALSE(m.downgrade(std::unique_lock(m, std::defer_lock), ec).owns_lock());
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_FALSE(elsewhere([&] { return std::shared_lock(m, std::try_to_lock).owns_lock(); }))
      << "the writer still excludes readers";
}

TEST(a_semaphore, of_no_permits_or_too_many_is_refused) {
  const auto client = holdfast::client::open("memory:");
  for (const std::uint32_t wrong : {0u, holdfast::semaphore::permits_max + 1}) {
    std::error_code got;
    try {
      (void)client.semaphore("pool", wrong);
    } catch (const holdfast::lock_error& e) {
      got = e.code();
    }
    EXPECT_EQ(got, errc::bad_option);
  }
  const auto pool = client.semaphore("pool", 3);
  EXPECT_EQ(pool.total_permits(), 3u);
  std::error_code ec;
  for (const std::uint32_t wrong : {0u, 4u}) {
    EXPECT_FALSE(pool.acquire({.permits = wrong}, {}, ec));
    EXPECT_EQ(ec, errc::bad_option);
  }
  EXPECT_FALSE(client.mutex("job").acquire({.permits = 2}, {}, ec));
  EXPECT_EQ(ec, errc::bad_option) << "a mutex is one permit";
}

TEST_F(a_shared_mutex, that_is_not_locked_is_not_downgraded_for_a_unique_lock_that_adopted_it) {
  std::error_code ec;
  EXPECT_FALSE(m.downgrade(std::unique_lock(m, std::adopt_lock), ec).owns_lock());
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_FALSE(m.current_shared());
  EXPECT_TRUE(elsewhere([&] { return std::unique_lock(m, std::try_to_lock).owns_lock(); }));
}

}  // namespace
