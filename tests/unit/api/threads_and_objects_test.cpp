#include <gtest/gtest.h>
#include <holdfast/client.hpp>

#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

template <class F>
std::error_code code_of(F f) {
  try {
    f();
  } catch (const lock_error& e) {
    return e.code();
  }
  return {};
}

TEST(self_deadlock, locking_a_held_name_through_another_object_throws) {
  const auto c = client::open("memory:");
  auto one = c.mutex("job"), other = c.mutex("job");
  auto readers = c.shared_mutex("job");
  one.lock();
  EXPECT_EQ(code_of([&] { other.lock(); }), errc::would_self_deadlock);
  EXPECT_EQ(code_of([&] { readers.lock_shared(); }), errc::would_self_deadlock);
  EXPECT_FALSE(other.try_lock());
  EXPECT_FALSE(other.try_lock_for(1h)) << "it does not wait for its own thread";
  one.unlock();
  other.lock();
  other.unlock();
}

TEST(self_deadlock, a_reader_that_locks_through_another_object_throws) {
  const auto c = client::open("memory:");
  auto readers = c.shared_mutex("job");
  auto writer = c.mutex("job");
  readers.lock_shared();
  EXPECT_EQ(code_of([&] { writer.lock(); }), errc::would_self_deadlock);
  readers.unlock_shared();
  writer.lock();
  writer.unlock();
}

TEST(self_deadlock, is_none_for_the_holder_of_a_recursive_mutex_in_any_form) {
  const auto c = client::open("memory:");
  auto m = c.recursive_mutex("job");
  m.lock();
  EXPECT_TRUE(m.try_lock());
  EXPECT_TRUE(m.try_lock_for(1h));
  m.unlock();
  m.unlock();
  EXPECT_FALSE(c.mutex("job").try_acquire()) << "locked once more than unlocked";
  m.unlock();
  EXPECT_TRUE(c.mutex("job").try_acquire());
}

TEST(self_deadlock, other_threads_and_leases_of_this_thread_wait) {
  const auto c = client::open("memory:");
  auto one = c.mutex("job"), other = c.mutex("job");
  one.lock();
  std::thread([&] { EXPECT_FALSE(other.try_lock_for(1ms)); }).join();
  std::thread waiter([&] {
    other.lock();
    other.unlock();
  });
  one.unlock();
  waiter.join();
  const lease mine = one.acquire();
  EXPECT_FALSE(other.try_lock_for(1ms)) << "a lease has no thread";
}

TEST(current_shared, is_the_lease_of_the_calling_threads_share) {
  const auto c = client::open("memory:");
  auto m = c.shared_mutex("job");
  EXPECT_FALSE(m.current_shared());
  {
    const std::shared_lock first(m);
    const lease& mine = m.current_shared();
    EXPECT_TRUE(mine.held());
    EXPECT_GT(mine.token(), 0);
    EXPECT_EQ(mine.mode(), lock_mode::shared);
    std::thread([&] {
      EXPECT_FALSE(m.current_shared()) << "of another thread";
      const std::shared_lock second(m);
      EXPECT_EQ(m.current_shared().token(), mine.token());
    }).join();
    EXPECT_TRUE(mine.held());
  }
  EXPECT_FALSE(m.current_shared());
  EXPECT_TRUE(c.mutex("job").try_acquire()) << "the view has not kept the lock";
}

TEST(downgrade_of_a_unique_lock, returns_a_shared_lock_with_the_same_token) {
  const auto c = client::open("memory:");
  auto m = c.shared_mutex("job");
  std::unique_lock writer(m);
  const auto token = m.current().token();
  {
    const std::shared_lock<shared_mutex> reader = m.downgrade(std::move(writer));
    EXPECT_TRUE(reader.owns_lock());
    EXPECT_FALSE(writer.owns_lock());
    EXPECT_EQ(m.current_shared().token(), token);
    EXPECT_TRUE(c.shared_mutex("job").try_acquire_shared()) << "readers are admitted";
    EXPECT_FALSE(c.mutex("job").try_acquire());
  }
  EXPECT_TRUE(c.mutex("job").try_acquire());
}

TEST(downgrade_of_a_unique_lock, without_the_lock_fails_and_changes_nothing) {
  const auto c = client::open("memory:");
  auto m = c.shared_mutex("job"), other = c.shared_mutex("other");
  std::unique_lock<shared_mutex> none(m, std::defer_lock), held(other);
  std::error_code ec;
  EXPECT_FALSE(m.downgrade(std::move(none), ec));
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_FALSE(m.downgrade(std::move(held), ec));
  EXPECT_EQ(ec, errc::not_held);
  EXPECT_TRUE(held.owns_lock());
}

TEST(time_of_a_lease, remaining_counts_down_to_expires) {
  const auto c = client::open("memory:?ttl=30s");
  lease held = c.mutex("job").acquire();
  EXPECT_GT(held.remaining(), 0s);
  EXPECT_LE(held.remaining(), 30s);
  EXPECT_TRUE(c.is_held("job"));
  const auto end = lease_clock::to_sys(held.expires()) - std::chrono::system_clock::now();
  EXPECT_GT(end, -1h);
  EXPECT_LE(end, 1h);
  held.release();
  EXPECT_EQ(held.remaining(), 0s);
  EXPECT_FALSE(c.is_held("job"));
}

TEST(errors_of_a_set, name_the_member_that_failed) {
  const auto c = client::open("memory:");
  lease_set both = c.acquire_all({"alice", "bob"});
  EXPECT_TRUE(c.break_lock("bob", c.holders("bob").at(0).owner));
  try {
    both.release();
    FAIL() << "it was lost";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::lost);
    EXPECT_EQ(e.lock(), "bob") << e.what();
    EXPECT_EQ(e.operation(), "release");
  }
}

}  // namespace
}  // namespace holdfast
