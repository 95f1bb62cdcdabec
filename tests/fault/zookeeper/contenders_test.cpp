// Clients that contend for locks at one ZooKeeper server while connections, sessions and the server
// go; the history of all of them is judged: overlap, the order of tokens, lost wake-ups.
#include "tests/fault/contenders.hpp"
#include "fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

using fault_test::contenders;

class zookeeper_contenders : public on_zookeeper {};

// A waiter that nobody wakes waits for ever; an outage of these tests ends long before.
constexpr history::check_options judged{.wake_bound = 20s, .lapse = 10s};

TEST_F(zookeeper_contenders, keep_every_promise_while_connections_and_sessions_end) {
  zookeeper_server server;
  tcp_proxy proxy(server.port());
  const std::string options = "?session-timeout=1s&op-timeout=30s";
  const std::string cut = at_port(proxy.port(), options), direct = server.url() + options;
  contenders all({cut, cut, direct}, {.check = judged});
  all.wait_for_plays(30);
  for (int i = 0; i < 5; ++i) {
    proxy.reset_all();
    all.wait_for_plays(10);
  }
  const client beside = client::open(cut), after = client::open(server.url() + "?op-timeout=30s");
  for (int i = 0; i < 2; ++i) {
    const lease same_session_time = beside.mutex("beside").acquire();
    proxy.set_both({.hold = true});
    (void)after.mutex("beside").acquire();  // the sessions behind the proxy are over
    all.wait_for_plays(10);
    proxy.set_both({});
    all.wait_for_plays(30);
  }
}

TEST_F(zookeeper_contenders, keep_every_promise_while_the_server_stalls_and_restarts) {
  zookeeper_server server;
  const std::string url = server.url() + "?session-timeout=1s&op-timeout=30s";
  contenders all({url, url, url}, {.check = judged});
  const client beside = client::open(url);
  all.wait_for_plays(30);
  const lease held = beside.mutex("beside").acquire();
  server.stop();
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  server.go_on();
  all.wait_for_plays(30);
  server.kill_hard();
  server.start();
  all.wait_for_plays(30);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
