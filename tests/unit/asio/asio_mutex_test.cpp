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
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "tests/unit/asio/coroutine_test.hpp"

namespace holdfast {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace std::chrono_literals;
constexpr auto generous = 30s;

class asio_mutex : public coroutine_test {
 protected:
  const client client_ = client::open("memory:");
  const mutex m_ = client_.mutex("asio");
};

asio::awaitable<void> naturally(const mutex& m) {
  auto lease = co_await m.async_acquire({}, use_awaitable);
  EXPECT_TRUE(lease.held());
  const auto first = lease.token();
  co_await lease.async_release(use_awaitable);
  EXPECT_FALSE(lease);
  auto again = co_await m.async_acquire({.ttl = 3s, .note = "a note"}, use_awaitable);
  EXPECT_GT(again.token(), first);
  again.unlock();
  auto no_options = co_await m.async_acquire(use_awaitable);
  EXPECT_TRUE(no_options.held());
  no_options.unlock();
  auto deferred = co_await m.async_acquire({.ttl = 3s}, asio::deferred);
  EXPECT_TRUE(deferred.held());
}

TEST_F(asio_mutex, is_awaited_in_a_coroutine) {
  run([&] { return naturally(m_); });
}

asio::awaitable<void> tried(const mutex& m) {
  auto held = co_await m.async_try_acquire({}, use_awaitable);
  EXPECT_TRUE(held);
  auto busy = co_await m.async_try_acquire({}, use_awaitable);
  EXPECT_FALSE(busy);
  auto late = co_await m.async_try_acquire_for(1ms, {}, use_awaitable);
  EXPECT_FALSE(late);
  held.unlock();
  auto free = co_await m.async_try_acquire_for(10s, {.note = "n"}, use_awaitable);
  EXPECT_TRUE(free);
}

TEST_F(asio_mutex, busy_is_an_empty_lease_and_no_error) {
  run([&] { return tried(m_); });
}

asio::awaitable<void> badly(const mutex& m) {
  auto [code, lease] = co_await m.async_acquire({.ttl = 1ms}, asio::as_tuple(use_awaitable));
  EXPECT_TRUE(code == errc::bad_option);
  EXPECT_TRUE(code == outcome::usage);
  EXPECT_FALSE(lease);
  auto after = co_await lease.async_release(asio::as_tuple(use_awaitable));
  EXPECT_EQ(std::error_code(std::get<0>(after)), errc::not_held);
  EXPECT_THROW((void)co_await m.async_acquire({.ttl = 1ms}, use_awaitable),
               boost::system::system_error);
}

TEST_F(asio_mutex, broken_is_an_error) {
  run([&] { return badly(m_); });
}

TEST_F(asio_mutex, a_callback_is_called_on_its_executor_and_never_inside_the_call) {
  bool inside = true, called = false;
  m_.async_acquire({}, on_context([&](std::error_code code, lease l) {
                     EXPECT_FALSE(inside);
                     EXPECT_FALSE(code);
                     EXPECT_TRUE(l.held());
                     EXPECT_TRUE(context_.get_executor().running_in_this_thread());
                     called = true;
                   }));
  inside = false;
  run();
  EXPECT_TRUE(called);
}

TEST_F(asio_mutex, a_strand_is_honoured) {
  asio::thread_pool pool(2);
  const auto strand = asio::make_strand(pool);
  std::promise<bool> on_strand;
  m_.async_acquire({}, asio::bind_executor(strand, [&](std::error_code, lease) {
                     on_strand.set_value(strand.running_in_this_thread());
                   }));
  EXPECT_TRUE(on_strand.get_future().get());
  pool.join();
}

TEST_F(asio_mutex, a_future_needs_no_context) {
  auto future = m_.async_acquire({}, asio::use_future);
  ASSERT_EQ(future.wait_for(generous), std::future_status::ready);
  lease l = future.get();
  EXPECT_TRUE(l.held());
  l.async_release(asio::use_future).get();
  EXPECT_TRUE(m_.try_acquire());
}

TEST_F(asio_mutex, a_waiter_is_served_when_a_blocking_holder_leaves) {
  lease held = m_.acquire();
  bool served = false;
  m_.async_acquire({},
                   on_context([&](std::error_code code, lease l) { served = !code && l.held(); }));
  EXPECT_EQ(context_.poll(), 1u) << "what was begun is sent, nothing is answered";
  EXPECT_FALSE(served);
  std::thread leaver([l = std::move(held)]() mutable { l.unlock(); });
  run();
  leaver.join();
  EXPECT_TRUE(served);
}

TEST_F(asio_mutex, a_cancellation_ends_the_wait_and_not_a_lease) {
  lease held = m_.acquire();
  asio::cancellation_signal signal;
  std::error_code told;
  m_.async_acquire({}, on_context(signal, [&](std::error_code code, lease l) {
                     told = code;
                     EXPECT_FALSE(l);
                   }));
  context_.poll();
  signal.emit(asio::cancellation_type::terminal);
  signal.emit(asio::cancellation_type::terminal);
  run();
  EXPECT_EQ(told, errc::canceled);
  EXPECT_TRUE(held.held());
  held.unlock();
  EXPECT_TRUE(m_.try_acquire());
}

asio::awaitable<void> no_longer_than(const mutex& m, std::chrono::milliseconds most) {
  using namespace asio::experimental::awaitable_operators;
  asio::steady_timer timer(co_await asio::this_coro::executor, most);
  auto first = co_await (m.async_acquire({}, use_awaitable) || timer.async_wait(use_awaitable));
  EXPECT_EQ(first.index(), 1u);
}

TEST_F(asio_mutex, a_timer_may_be_faster) {
  lease held = m_.acquire();
  run([&] { return no_longer_than(m_, 1ms); });
  held.unlock();
  EXPECT_TRUE(m_.try_acquire());
}

asio::awaitable<void> often(const mutex& m, int times, int& inside, int& done) {
  for (int i = 0; i < times; ++i) {
    auto lease = co_await m.async_acquire({}, use_awaitable);
    EXPECT_EQ(++inside, 1);
    co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
    --inside;
    ++done;
  }
}

TEST_F(asio_mutex, many_coroutines_take_turns) {
  int inside = 0, done = 0;
  for (int i = 0; i < 16; ++i)
    asio::co_spawn(context_, often(m_, 50, inside, done), asio::detached);
  run();
  EXPECT_EQ(done, 800);
}

TEST_F(asio_mutex, coroutines_and_threads_take_turns) {
  int inside = 0, done = 0;
  for (int i = 0; i < 4; ++i)
    asio::co_spawn(context_, often(m_, 1000, inside, done), asio::detached);
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) {
      const lease l = m_.acquire();
      EXPECT_EQ(++inside, 1);
      --inside;
    }
  });
  run();
  other.join();
  EXPECT_EQ(done, 4000);
}

TEST_F(asio_mutex, a_context_may_end_before_its_operations) {
  lease held = m_.acquire();
  auto kept = std::make_shared<int>();
  {
    asio::io_context ends;
    m_.async_acquire({}, asio::bind_executor(ends, [kept](std::error_code, lease) { FAIL(); }));
    ends.poll();
  }
  EXPECT_EQ(kept.use_count(), 1) << "the handler is gone";
  held.unlock();
  EXPECT_TRUE(m_.try_acquire_for(generous)) << "what it was granted was given back";
}

TEST_F(asio_mutex, a_client_that_is_closed_ends_the_wait) {
  lease held = m_.acquire();
  std::error_code told;
  m_.async_acquire({}, on_context([&](std::error_code code, lease) { told = code; }));
  client copy = client_;
  copy.close();
  run();
  EXPECT_EQ(told, errc::closed);
}

TEST_F(asio_mutex, a_handler_that_throws_takes_nothing_from_the_others) {
  const mutex n = client_.mutex("another");
  int called = 0;
  m_.async_acquire({}, on_context([&](std::error_code, lease) {
                     ++called;
                     throw std::string("by a handler");
                   }));
  n.async_acquire({}, on_context([&](std::error_code, lease) { ++called; }));
  EXPECT_THROW(run(), std::string);
  run();
  EXPECT_EQ(called, 2);
}

}  // namespace
}  // namespace holdfast
