#ifdef HOLDFAST_WITH_REDIS
#include <gtest/gtest.h>
#include <holdfast/asio.hpp>
#include <holdfast/holdfast.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testkit/servers/redis_server.hpp"

namespace holdfast {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;
using namespace std::chrono_literals;

class redis_asio : public testing::Test {
 protected:
  void run() {
    context_.restart();
    context_.run_for(30s);
    ASSERT_TRUE(context_.stopped());
  }
  void SetUp() override {
    if (!testkit::redis_server::installed()) GTEST_SKIP() << testkit::redis_server::not_installed;
    server_ = std::make_unique<testkit::redis_server>();
    url_ = server_->url();
    client_ = client::open(url_);
  }
  std::unique_ptr<testkit::redis_server> server_;
  std::string url_;
  client client_ = client::open("memory:");
  asio::io_context context_{1};
};

asio::awaitable<void> locked(const mutex& m, int times, int& inside, std::vector<long>& tokens) {
  for (int i = 0; i < times; ++i) {
    auto lease = co_await m.async_acquire({.ttl = 10s}, use_awaitable);
    EXPECT_EQ(++inside, 1);
    tokens.push_back(lease.token());
    co_await asio::post(co_await asio::this_coro::executor, use_awaitable);
    --inside;
    if (i % 2) co_await lease.async_release(use_awaitable);
  }
}

TEST_F(redis_asio, coroutines_of_two_clients_take_turns) {
  const client other = client::open(url_);
  const mutex mine = client_.mutex("asio"), theirs = other.mutex("asio");
  int inside = 0;
  std::vector<long> tokens;
  for (int i = 0; i < 4; ++i)
    for (const mutex* m : {&mine, &theirs})
      asio::co_spawn(context_, locked(*m, 50, inside, tokens), asio::detached);
  run();
  ASSERT_EQ(tokens.size(), 400u);
  for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_LT(tokens[i - 1], tokens[i]);
}

TEST_F(redis_asio, many_locks_at_a_time_and_a_thread_that_blocks_beside_them) {
  std::vector<mutex> locks;
  std::vector<std::vector<long>> tokens(32);
  std::vector<int> inside(32);
  for (int i = 0; i < 32; ++i) locks.push_back(client_.mutex("asio-" + std::to_string(i)));
  for (std::size_t i = 0; i < 32; ++i)
    asio::co_spawn(context_, locked(locks[i], 50, inside[i], tokens[i]), asio::detached);
  std::thread blocks([&] {
    const mutex m = client_.mutex("asio-blocking");
    for (int i = 0; i < 200; ++i) m.acquire().release();
  });
  run();
  blocks.join();
  for (const auto& t : tokens) EXPECT_EQ(t.size(), 50u);
}

TEST_F(redis_asio, a_wait_is_cancelled_and_leaves_nothing_behind) {
  const client other = client::open(url_);
  lease held = other.mutex("asio").acquire();
  const mutex m = client_.mutex("asio");
  asio::cancellation_signal signal;
  std::error_code told;
  const auto handler = [&](std::error_code code, lease) { told = code; };
  m.async_acquire({}, asio::bind_cancellation_slot(signal.slot(),
                                                   asio::bind_executor(context_, handler)));
  context_.poll();
  signal.emit(asio::cancellation_type::terminal);
  run();
  EXPECT_EQ(told, errc::canceled);
  held.release();
  EXPECT_TRUE(m.async_try_acquire({}, asio::use_future).get());
}

TEST_F(redis_asio, a_waiter_is_served_by_another_client_s_release) {
  const client other = client::open(url_);
  lease held = other.mutex("asio").acquire();
  auto next = client_.mutex("asio").async_acquire({}, asio::use_future);
  EXPECT_EQ(next.wait_for(20ms), std::future_status::timeout);
  held.unlock();
  ASSERT_EQ(next.wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(next.get().held());
}

TEST_F(redis_asio, several_locks_are_had_in_one_step_or_waited_for_in_turn) {
  const client other = client::open(url_);
  auto a = client_.mutex("a"), b = client_.mutex("b");
  const multi_mutex both(b, a);
  auto at_once = both.async_acquire({}, asio::use_future).get();
  EXPECT_TRUE(at_once.held());
  const auto members = at_once.members();
  EXPECT_EQ(members[0].token() - members[1].token(), 1024) << "numbers of one step";
  at_once.async_release(asio::use_future).get();
  lease held = other.mutex("a").acquire();
  auto next = both.async_acquire({}, asio::use_future);
  EXPECT_EQ(next.wait_for(20ms), std::future_status::timeout);
  held.unlock();
  EXPECT_TRUE(next.get().held());
}

}  // namespace
}  // namespace holdfast
#endif
