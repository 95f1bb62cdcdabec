// Campaigns of coroutines.
#include <gtest/gtest.h>
#include <holdfast/asio.hpp>
#include <holdfast/election.hpp>
#include <holdfast/memory.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <chrono>
#include <optional>
#include <string>

#include "tests/unit/asio/coroutine_test.hpp"

namespace {

namespace asio = boost::asio;
namespace hf = holdfast;
using namespace std::chrono_literals;
using asio::awaitable;
using error_code = boost::system::error_code;
using hf::errc;

constexpr auto with_error = asio::as_tuple(asio::use_awaitable);

class asio_election : public hf::coroutine_test {
 protected:
  hf::memory_store store_{"asio-elections"};
  hf::client client_ = hf::client::open(store_.url());
  hf::election office_{client_, "office"};
  hf::election rival_{hf::client::open(store_.url()), "office"};
};

awaitable<void> each_form(hf::election& office) {
  EXPECT_TRUE(co_await office.async_campaign("a"));
  EXPECT_TRUE(office.is_leader());
  EXPECT_EQ(office.observe().value().note, "a");
  EXPECT_TRUE(co_await office.async_campaign("b")) << "it leads already";
  EXPECT_EQ(office.observe().value().note, "a");
  co_await office.async_resign();
  EXPECT_FALSE(office.is_leader());
  EXPECT_TRUE(co_await office.async_try_campaign("c"));
  co_await office.async_resign();
  EXPECT_TRUE(co_await office.async_try_campaign_for(1h, "d"));
  co_await office.async_resign();
  const auto in_an_hour = std::chrono::steady_clock::now() + 1h;
  EXPECT_TRUE(co_await office.async_try_campaign_until(in_an_hour, "e", asio::use_awaitable));
  EXPECT_GT(office.term().token(), 0);
  co_await office.async_resign();
  const auto [error] = co_await office.async_resign(with_error);
  EXPECT_EQ(error, errc::not_held);
}

TEST_F(asio_election, campaigns_in_each_form) {
  run([&] { return each_form(office_); });
}

awaitable<void> be_refused(hf::election& office) {
  EXPECT_FALSE(co_await office.async_try_campaign("b")) << "busy is no error";
  EXPECT_FALSE(co_await office.async_try_campaign_for(1ms, "b"));
  const std::string too_long(257, 'a');
  const auto [error, leads] = co_await office.async_campaign(too_long, with_error);
  EXPECT_EQ(error, errc::bad_option);
  EXPECT_FALSE(leads);
}

TEST_F(asio_election, is_busy_or_refused_as_the_blocking_one) {
  rival_.campaign("a");
  run([&] { return be_refused(office_); });
  EXPECT_FALSE(office_.is_leader());
}

awaitable<void> follow(hf::election& office) {
  EXPECT_TRUE(co_await office.async_campaign("b"));
  EXPECT_TRUE(office.is_leader());
}

TEST_F(asio_election, waits_for_a_leader_that_resigns) {
  rival_.campaign("a");
  asio::post(context_, [&] { rival_.resign(); });
  run([&] { return follow(office_); });
  EXPECT_FALSE(rival_.is_leader());
}

TEST_F(asio_election, a_cancellation_ends_the_campaign) {
  rival_.campaign("a");
  asio::cancellation_signal signal;
  std::optional<error_code> code;
  const auto on_end = [&](error_code error, bool leads) {
    code = error;
    EXPECT_FALSE(leads);
  };
  office_.async_campaign("b", asio::bind_cancellation_slot(signal.slot(),
                                                           asio::bind_executor(context_, on_end)));
  asio::post(context_, [&] { signal.emit(asio::cancellation_type::total); });
  run();
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, errc::canceled);
  EXPECT_FALSE(office_.is_leader());
  EXPECT_TRUE(rival_.is_leader());
}

}  // namespace
