// Every kind of lock without blocking: the natural calls, as GCC 12 compiles them.
#include <gtest/gtest.h>
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <optional>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/asio/coroutine_test.hpp"

namespace holdfast {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace std::chrono_literals;

class asio_kinds : public coroutine_test {
 protected:
  const client client_ = client::open("memory:");
};

asio::awaitable<void> shares(const shared_mutex& m) {
  auto first = co_await m.async_acquire_shared({.note = "a reader"}, use_awaitable);
  auto second = co_await m.async_acquire_shared(use_awaitable);
  EXPECT_EQ(first.token(), second.token());
  auto busy = co_await m.async_try_acquire({}, use_awaitable);
  EXPECT_FALSE(busy);
  auto third = co_await m.async_try_acquire_shared({.ttl = 3s}, asio::deferred);
  EXPECT_TRUE(third);
  first.unlock();
  second.unlock();
  co_await third.async_release(use_awaitable);
  auto writer = co_await m.async_acquire(use_awaitable);
  EXPECT_FALSE(co_await m.async_try_acquire_shared_for(1ms, {}, use_awaitable));
  auto reader = m.downgrade(std::move(writer));
  EXPECT_TRUE(co_await m.async_try_acquire_shared_for(10s, {}, use_awaitable));
}

TEST_F(asio_kinds, shares_are_awaited_in_a_coroutine) {
  const auto m = client_.shared_mutex("job");
  if (!client_.features().shared) GTEST_SKIP() << "not applicable: no shares";
  run([&] { return shares(m); });
}

asio::awaitable<void> permits(const semaphore& s) {
  auto two = co_await s.async_acquire({.permits = 2}, use_awaitable);
  EXPECT_TRUE(two.held());
  auto busy = co_await s.async_try_acquire({.permits = 2}, use_awaitable);
  EXPECT_FALSE(busy);
  auto one = co_await s.async_try_acquire_for(10s, {}, use_awaitable);
  EXPECT_TRUE(one);
  auto [code, none] = co_await s.async_acquire({.permits = 4}, asio::as_tuple(use_awaitable));
  EXPECT_TRUE(code == errc::bad_option);
  co_await two.async_release(use_awaitable);
}

TEST_F(asio_kinds, permits_are_awaited_in_a_coroutine) {
  if (!client_.features().permits) GTEST_SKIP() << "not applicable: no permits";
  const auto s = client_.semaphore("pool", 3);
  run([&] { return permits(s); });
}

asio::awaitable<void> again(const recursive_mutex& m) {
  auto mine = co_await m.async_acquire({}, use_awaitable);
  auto twice = m.reacquire(mine);
  EXPECT_EQ(mine.token(), twice.token());
  co_await mine.async_release(use_awaitable);
  EXPECT_TRUE(twice.held());
  co_await twice.async_release(use_awaitable);
  EXPECT_TRUE(co_await m.async_try_acquire({}, use_awaitable));
}

TEST_F(asio_kinds, a_recursive_lock_is_entered_again_by_its_lease) {
  const auto m = client_.recursive_mutex("job");
  run([&] { return again(m); });
}

asio::awaitable<void> several(const multi_mutex& both, const mutex& a) {
  auto held = co_await both.async_acquire({.note = "both"}, use_awaitable);
  EXPECT_EQ(held.members().size(), 2u);
  EXPECT_FALSE(co_await both.async_try_acquire({}, use_awaitable));
  EXPECT_FALSE(co_await both.async_try_acquire_for(1ms, {}, use_awaitable));
  EXPECT_FALSE(co_await a.async_try_acquire({}, use_awaitable));
  co_await held.async_release(use_awaitable);
  EXPECT_FALSE(held);
  auto once_more = co_await both.async_acquire(use_awaitable);
  EXPECT_TRUE(once_more.held());
  once_more.unlock();
  auto [code] = co_await once_more.async_release(asio::as_tuple(use_awaitable));
  EXPECT_TRUE(code == errc::not_held);
}

TEST_F(asio_kinds, several_locks_are_awaited_as_one) {
  auto a = client_.mutex("a"), b = client_.mutex("b");
  const multi_mutex both(b, a);
  run([&] { return several(both, a); });
}

TEST_F(asio_kinds, several_locks_come_to_a_callback_and_to_a_future) {
  auto a = client_.mutex("a"), b = client_.mutex("b");
  const multi_mutex both(a, b);
  std::optional<lease_set> got;
  both.async_acquire({}, on_context([&](std::error_code code, lease_set s) {
                       EXPECT_FALSE(code);
                       got = std::move(s);
                     }));
  context_.run_for(30s);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->held());
  got->unlock();
  asio::thread_pool pool(1);
  auto future = both.async_acquire({}, asio::bind_executor(pool, asio::use_future));
  EXPECT_TRUE(future.get().held());
}

TEST_F(asio_kinds, several_locks_of_two_clients_are_awaited_as_one) {
  const client other = client::open("memory:");
  auto a = client_.mutex("a"), b = other.mutex("b"), c = client_.mutex("c");
  const multi_mutex all(c, b, a);
  auto busy = b.acquire();
  std::optional<lease_set> got;
  all.async_acquire({}, on_context([&](std::error_code, lease_set s) { got = std::move(s); }));
  while (a.try_acquire()) context_.poll();
  EXPECT_TRUE(c.try_acquire()) << "its turn has not come";
  busy.unlock();
  context_.restart();
  context_.run_for(30s);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->held());
  EXPECT_FALSE(c.try_acquire());
}

TEST_F(asio_kinds, several_locks_are_taken_anew_by_an_operation_that_is_begun_again) {
  auto a = client_.mutex("a"), b = client_.mutex("b");
  const multi_mutex both(a, b);
  const auto operation = both.async_try_acquire({.note = "again"}, asio::deferred);
  for (int times = 0; times < 3; ++times) {
    std::optional<lease_set> got;
    auto again = operation;
    std::move(again)(on_context([&](std::error_code, lease_set s) { got = std::move(s); }));
    context_.restart();
    context_.run_for(30s);
    ASSERT_TRUE(got);
    EXPECT_TRUE(got->held());
  }
}

// The first of them has been answered when the process forks.
TEST_F(asio_kinds, several_locks_of_a_parent_are_not_taken_on_by_its_child) {
  const client other = client::open("memory:");
  auto a = client_.mutex("a"), b = other.mutex("b");
  const multi_mutex both(a, b);
  std::optional<std::error_code> code;
  both.async_acquire({}, on_context([&](std::error_code c, lease_set) { code = c; }));
  context_.notify_fork(asio::execution_context::fork_prepare);
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(60);  // ends the child if it hangs
    context_.notify_fork(asio::execution_context::fork_child);
    context_.run_for(30s);
    _exit(code == errc::forked ? 0 : 1);
  }
  context_.notify_fork(asio::execution_context::fork_parent);
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  context_.run_for(30s);
  EXPECT_EQ(code, std::error_code());
}

TEST_F(asio_kinds, several_locks_whose_context_ends_are_given_back) {
  auto a = client_.mutex("a"), b = client_.mutex("b");
  const multi_mutex both(a, b);
  auto busy = b.acquire();
  {
    asio::io_context ends;
    both.async_acquire({}, asio::bind_executor(ends,
                                               [&](std::error_code, lease_set) { ADD_FAILURE(); }));
    while (a.try_acquire()) ends.poll();
  }
  busy.unlock();
  EXPECT_TRUE(a.try_acquire_for(30s));
  EXPECT_TRUE(b.try_acquire_for(30s));
}

TEST_F(asio_kinds, a_cancelled_wait_for_several_gives_back_what_it_had) {
  auto a = client_.mutex("a"), b = client_.mutex("b");
  auto busy = b.acquire();
  const multi_mutex both(a, b);
  asio::cancellation_signal signal;
  std::optional<std::error_code> code;
  both.async_acquire({}, on_context(signal, [&](std::error_code c, lease_set s) {
                       EXPECT_FALSE(s);
                       code = c;
                     }));
  while (a.try_acquire()) context_.poll();
  signal.emit(asio::cancellation_type::total);
  context_.restart();
  context_.run_for(30s);
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, errc::canceled);
  EXPECT_TRUE(a.try_acquire());
}

TEST_F(asio_kinds, a_cancelled_wait_for_a_share_or_a_permit_ends) {
  if (!client_.features().shared) GTEST_SKIP() << "not applicable: no shares";
  const auto m = client_.shared_mutex("job");
  auto writer = m.acquire();
  asio::cancellation_signal signal;
  std::optional<std::error_code> code;
  m.async_acquire_shared({}, on_context(signal, [&](std::error_code c, lease) { code = c; }));
  signal.emit(asio::cancellation_type::total);
  context_.run_for(30s);
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, errc::canceled);
}

}  // namespace
}  // namespace holdfast
