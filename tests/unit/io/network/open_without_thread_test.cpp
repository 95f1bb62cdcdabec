// client::open() in a process that has no room for the thread of its timers.
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

#include "api/client_access.hpp"
#include "base/network.hpp"
#include "testkit/thrown_by.hpp"

namespace {

namespace base = holdfast::base;
using holdfast::detail::client_access;
constexpr auto long_enough = std::chrono::seconds(30);

// The real one, but no alarm ever gets its thread.
struct environment_without_timers : base::environment {
  struct mute_alarm final : base::alarm {
    bool set(base::time_point t) noexcept override { return t == base::never; }
  };
  base::time_point now() noexcept override { return real.now(); }
  std::chrono::microseconds wall() noexcept override { return real.wall(); }
  void random(std::span<std::byte> to) noexcept override { real.random(to); }
  std::unique_ptr<base::alarm> make_alarm(base::alarm_target&, const char*) override {
    return std::make_unique<mute_alarm>();
  }
  std::unique_ptr<base::worker> make_worker(const char* name) override {
    return real.make_worker(name);
  }
  std::unique_ptr<base::event_loop> make_loop(base::loop_user& user, base::driven_by how,
                                              const char* name) override {
    return real.make_loop(user, how, name);
  }
  base::environment& real = base::system_environment();
};

TEST(an_open_without_timers, is_refused_while_the_server_is_silent) {
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor silent(context, {boost::asio::ip::address_v4::loopback(), 0});
  const auto where =
      holdfast::url::parse("redis://127.0.0.1:" + std::to_string(silent.local_endpoint().port()));
  environment_without_timers env;
  std::stop_source stop;
  auto code = std::async(std::launch::async, [&, token = stop.get_token()] {
    return holdfast::testkit::thrown_by([&] { client_access::open(where, {}, env, token); });
  });
  EXPECT_EQ(code.wait_for(long_enough), std::future_status::ready) << "it has no end";
  stop.request_stop();
  EXPECT_EQ(code.get(), holdfast::errc::unavailable);
}

// Nor is there a thread for the loop.
struct environment_without_loop_threads final : environment_without_timers {
  std::unique_ptr<base::event_loop> make_loop(base::loop_user&, base::driven_by,
                                              const char*) override {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
};

TEST(an_open_without_a_loop, is_refused_in_the_library_s_own_words) {
  environment_without_loop_threads env;
  const auto where = holdfast::url::parse("redis://127.0.0.1");
  EXPECT_EQ(holdfast::testkit::thrown_by([&] { client_access::open(where, {}, env); }),
            holdfast::errc::unavailable);
}

}  // namespace
