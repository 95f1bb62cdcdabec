#include <condition_variable>
#include <mutex>

#include "behaviour.hpp"

namespace contract {
namespace {

void the_guards_of_the_standard_library_work(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lock = on.lock(client);
  {
    const std::lock_guard guard(lock);
    EXPECT_TRUE(lock.current().held());
    EXPECT_TRUE(on.is_later(lock.current().token(), 0));
    EXPECT_EQ(other->ask("try job"), "busy");
  }
  EXPECT_FALSE(lock.current());
  std::unique_lock timed(lock, std::chrono::seconds(60));
  EXPECT_TRUE(timed.owns_lock());
  timed.unlock();
  std::unique_lock attempt(lock, std::try_to_lock);
  EXPECT_TRUE(attempt.owns_lock()) << "the client's own release is in nobody's way";
  auto moved = std::move(attempt);
  EXPECT_EQ(other->ask("try job"), "busy");
  moved.unlock();
  EXPECT_EQ(other->ask("acquire job"), "calling");
  EXPECT_NE(token_of(other->receive(generous)), 0);
  std::unique_lock late(lock, std::defer_lock);
  EXPECT_FALSE(late.try_lock());
}

void scoped_lock_takes_several_without_deadlock(fixture& on) {
  const auto client = on.client();
  auto first = on.lock(client, "first");
  auto second = on.lock(client, "second");
  int count = 0;  // guarded by both
  const auto work = [&count](any_lock& a, any_lock& b) {
    for (int times = 0; times < 50; ++times) {
      const std::scoped_lock guard(a, b);
      ++count;
    }
    return true;
  };
  caller<bool> forth([&] { return work(first, second); });
  caller<bool> back([&] { return work(second, first); });
  ASSERT_TRUE(forth.comes_back());
  ASSERT_TRUE(back.comes_back());
  EXPECT_EQ(count, 100);
}

void a_condition_variable_waits_with_it(fixture& on) {
  const auto client = on.client();
  auto lock = on.lock(client);
  std::condition_variable_any changed;
  int step = 0;  // guarded by the lock
  const auto take_steps = [&](int mine) {
    for (int times = 0; times < 20; ++times) {
      std::unique_lock guard(lock);
      changed.wait(guard, [&] { return step % 2 == mine; });
      ++step;
      changed.notify_all();
    }
    return true;
  };
  caller<bool> even([&] { return take_steps(0); });
  caller<bool> odd([&] { return take_steps(1); });
  ASSERT_TRUE(even.comes_back());
  ASSERT_TRUE(odd.comes_back());
  EXPECT_EQ(step, 40);
}

}  // namespace

behaviours standard_library() {
  return {
      CONTRACT_BEHAVIOUR(42, the_guards_of_the_standard_library_work, in_both, as_a_lockable,
                         nothing),
      CONTRACT_BEHAVIOUR(43, scoped_lock_takes_several_without_deadlock, in_threads, as_a_lockable,
                         nothing),
      CONTRACT_BEHAVIOUR(44, a_condition_variable_waits_with_it, in_threads, as_a_lockable,
                         nothing),
  };
}

}  // namespace contract
