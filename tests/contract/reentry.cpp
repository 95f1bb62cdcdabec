#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::errc;

void a_recursive_lock_needs_as_many_unlocks(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = client.recursive_mutex("job");
  for (int depth = 0; depth < 3; ++depth) lock.lock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.try_lock_for(std::chrono::milliseconds(1)));
  for (int left = 5; left > 1; --left) {
    lock.unlock();
    EXPECT_EQ(other->ask("try job"), "busy");
    EXPECT_TRUE(lock.current().held());
  }
  lock.unlock();
  EXPECT_FALSE(lock.current());
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
}

void re_entry_belongs_to_the_thread(fixture& on) {
  const auto client = on.client();
  auto lock = client.recursive_mutex("job");
  lock.lock();
  caller<bool> elsewhere([&] { return lock.try_lock(); });
  EXPECT_FALSE(elsewhere.result());
  caller<std::int64_t> waiting([&] {
    lock.lock();
    const auto token = lock.current().token();
    lock.unlock();
    return token;
  });
  EXPECT_TRUE(waiting.waits());
  const auto token = lock.current().token();
  lock.unlock();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(on.is_later(waiting.result(), token));
}

void re_entry_keeps_the_token(fixture& on) {
  const auto client = on.client();
  auto lock = client.recursive_mutex("job");
  lock.lock();
  const auto token = lock.current().token();
  lock.lock();
  EXPECT_EQ(lock.current().token(), token);
  lock.unlock();
  EXPECT_EQ(lock.current().token(), token);
  lock.unlock();
  lock.lock();
  EXPECT_TRUE(on.is_later(lock.current().token(), token));
  lock.unlock();
}

void a_reacquired_lease_holds_to_the_last(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  const auto lock = client.recursive_mutex("job");
  auto first = lock.acquire();
  auto again = lock.reacquire(first);
  EXPECT_EQ(again.token(), first.token());
  EXPECT_EQ(again.expires(), first.expires());
  first.release();
  EXPECT_TRUE(again.held());
  EXPECT_EQ(other->ask("try job"), "busy");
  again.release();
  EXPECT_NE(token_of(other->ask("try job")), 0);
}

void only_a_held_lease_is_reacquired(fixture& on) {
  const auto client = on.short_lived_client();
  const auto lock = client.recursive_mutex("job");
  const auto of_another = client.mutex("another").acquire();
  EXPECT_EQ(thrown_by([&] { (void)lock.reacquire({}); }), errc::not_held);
  EXPECT_EQ(thrown_by([&] { (void)lock.reacquire(of_another); }), errc::mismatch);
  const auto mine = lock.acquire();
  on.store().lose_leases_of(client);
  EXPECT_TRUE(comes(mine.loss_token()));
  EXPECT_EQ(thrown_by([&] { (void)lock.reacquire(mine); }), holdfast::outcome::lost);
}

void acquire_is_never_a_re_entry(fixture& on) {
  const auto client = on.client();
  auto lock = client.recursive_mutex("job");
  lock.lock();
  EXPECT_FALSE(lock.try_acquire());
  EXPECT_FALSE(client.recursive_mutex("job").try_lock()) << "another object is another owner";
  lock.unlock();
}

void locking_twice_is_reported_as_a_self_deadlock(fixture& on) {
  const auto client = on.client();
  auto lock = client.mutex("job");
  lock.lock();
  EXPECT_EQ(thrown_by([&] { lock.lock(); }), errc::would_self_deadlock);
  EXPECT_FALSE(lock.try_lock());
  EXPECT_TRUE(lock.current().held());
  lock.unlock();
  EXPECT_NO_THROW(lock.lock());
  lock.unlock();
}

void a_thread_does_not_wait_for_its_own_lock(fixture& on) {
  const auto client = on.client();
  auto one = client.mutex("job"), another = client.mutex("job");
  one.lock();
  EXPECT_EQ(thrown_by([&] { another.lock(); }), errc::would_self_deadlock);
  EXPECT_FALSE(another.try_lock());
  EXPECT_FALSE(another.try_lock_for(std::chrono::hours(1)));
  if (on.has_readers()) {
    auto readers = client.shared_mutex("job");
    EXPECT_EQ(thrown_by([&] { readers.lock_shared(); }), errc::would_self_deadlock);
  }
  caller<bool> elsewhere([&] {
    another.lock();
    another.unlock();
    return true;
  });
  EXPECT_TRUE(elsewhere.waits());
  one.unlock();
  EXPECT_TRUE(elsewhere.comes_back());
}

}  // namespace

behaviours reentry() {
  return {
      CONTRACT_BEHAVIOUR(134, a_thread_does_not_wait_for_its_own_lock, in_threads, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(35, a_recursive_lock_needs_as_many_unlocks, in_both, recursively, nothing),
      CONTRACT_BEHAVIOUR(36, re_entry_belongs_to_the_thread, in_threads, recursively, nothing),
      CONTRACT_BEHAVIOUR(37, re_entry_keeps_the_token, in_threads, recursively, nothing),
      CONTRACT_BEHAVIOUR(38, a_reacquired_lease_holds_to_the_last, in_both, recursively, nothing),
      CONTRACT_BEHAVIOUR(39, only_a_held_lease_is_reacquired, in_threads, recursively, nothing),
      CONTRACT_BEHAVIOUR(40, acquire_is_never_a_re_entry, in_threads, recursively, nothing),
      CONTRACT_BEHAVIOUR(41, locking_twice_is_reported_as_a_self_deadlock, in_threads, exclusively,
                         nothing),
  };
}

}  // namespace contract
