// client::open() ends when it is stopped, whatever the network keeps it waiting for.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <holdfast/holdfast.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <future>
#include <latch>
#include <string>
#include <string_view>

namespace {

// A name whose look-up takes as long as a test wants.
constexpr std::string_view slow_name = "slow.holdfast.invalid";
struct slow_look_up {
  std::latch begun{1}, may_end{1};
};
slow_look_up* looking_up = nullptr;

}  // namespace

extern "C" int getaddrinfo(const char* host, const char* port, const addrinfo* hints,
                           addrinfo** list) {
  if (host && host == slow_name && looking_up) {
    looking_up->begun.count_down();
    looking_up->may_end.wait();
    return EAI_NONAME;
  }
  static const auto real =
      reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(host, port, hints, list);
}

namespace {

using holdfast::errc;
constexpr auto open_bound = std::chrono::seconds(30);

// open() of that URL in a thread of its own, with hours to wait.
struct opening {
  explicit opening(const std::string& url)
      : code(std::async(std::launch::async, [url, s = stop.get_token()] {
          std::error_code ec;
          (void)holdfast::client::open(url + "?op-timeout=1h&connect-timeout=1h", {}, s, ec);
          return ec;
        })) {}
  void ends_canceled() {
    stop.request_stop();
    ASSERT_EQ(code.wait_for(open_bound), std::future_status::ready);
    EXPECT_EQ(code.get(), errc::canceled);
  }
  std::stop_source stop;
  std::future<std::error_code> code;
};

// Accepts and says nothing.
struct silent_server {
  std::string address() const {
    return "127.0.0.1:" + std::to_string(door.local_endpoint().port());
  }
  boost::asio::io_context context;
  boost::asio::ip::tcp::acceptor door{context, {boost::asio::ip::address_v4::loopback(), 0}};
};

TEST(a_stopped_open, ends_while_the_server_is_silent) {
  silent_server server;
  opening o("redis://" + server.address());
  const auto peer = server.door.accept();
  o.ends_canceled();
}

TEST(a_stopped_open, ends_while_tls_is_agreed_on) {
  silent_server server;
  opening o("rediss://" + server.address());
  const auto peer = server.door.accept();
  o.ends_canceled();
}

TEST(a_stopped_open, ends_while_a_name_is_looked_up) {
  static slow_look_up slow;  // the look-up may outlive the test
  looking_up = &slow;
  opening o("redis://" + std::string(slow_name));
  slow.begun.wait();
  o.ends_canceled();
  slow.may_end.count_down();
}

TEST(a_stopped_open, that_was_stopped_before_begins_nothing) {
  std::stop_source stop;
  stop.request_stop();
  std::error_code ec;
  EXPECT_FALSE(holdfast::client::open("redis://127.0.0.1:1", {}, stop.get_token(), ec));
  EXPECT_EQ(ec, errc::canceled);
}

}  // namespace
