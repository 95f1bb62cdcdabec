// Shared by the fault tests of Redis: a server and clients of it.
#pragma once
#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "testkit/eventually.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "tests/fault/contenders.hpp"
#include "tests/fault/file/fixture.hpp"

namespace holdfast::redis_test {

using namespace std::chrono_literals;
using fault_test::contenders;
using file_test::other_process;
using testkit::applies_to;
using testkit::direction;
using testkit::eventually;
using testkit::redis_options;
using testkit::redis_server;
using testkit::tcp_proxy;

// Skips where redis-server is not installed.
class on_redis : public testing::Test {
 protected:
  void SetUp() override {
    if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  }
};

// Connections are tried again soon. A silent one is given up after half of the op-timeout, which is
// longer than a busy machine stops a process.
inline constexpr const char* quick = "?op-timeout=5s&retry-base=2ms&connect-timeout=2s";
std::string quick_with(const std::string& more);  // "ttl=1s"
// What ends at once does so long before an op-timeout; without a bound nothing ends.
inline constexpr const char* patient = "?op-timeout=60s";
// Far above what any machine needs, and below a wait that ends by a waiter's own look, after 30 s.
inline constexpr std::chrono::seconds in_bounds{20};

// A client whose op-timeout may be too short for opening it on a busy machine.
client open_eventually(const std::string& url);

// For a client that logs to `text`, one line each. `text` outlives the client.
inline open_options logging_to(std::string& text) {
  open_options out;
  out.log = [](log_level, std::string_view line, void* to) {
    *static_cast<std::string*>(to) += std::string(line) + '\n';
  };
  out.log_context = &text;
  return out;
}

// The error that a function threw, or {}; and how long it took.
struct told {
  std::error_code code;
  std::string text;
  std::chrono::milliseconds took{};
};
told told_by(const std::function<void()>&);

// That so many wait for the lock at the server, within half a minute.
bool eventually_queued(redis_server&, std::size_t n, const std::string& name = "x");

// A thread that waits for the lock from here on, to the end of the object at the latest.
class waiting_thread {
 public:
  explicit waiting_thread(const client&, const std::string& name = "x");
  bool is_served() const noexcept { return served_; }
  // Waits until it is. What it was told when that was no lease: a failure of the test.
  lease& served();

 private:
  lease held_;
  std::error_code reported_;
  std::atomic<bool> served_{false};
  std::jthread thread_;
};

// That a lease's deadline is not later than its key's at the server.
void expect_safe(const lease&, redis_server&, const std::string& name);
// Nothing is left at the server but the counter, within half a minute; and nobody listens.
void expect_no_key_left(redis_server&);
void expect_nothing_left(redis_server&);
// True if the locks of Redisson's layouts have left no key but their counters.
void expect_counters_alone_left(redis_server&);

}  // namespace holdfast::redis_test
