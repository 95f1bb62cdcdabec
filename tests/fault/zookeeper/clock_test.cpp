// The wall clock of the server is stepped while locks are held. (That of the client: tests/cli.)
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <thread>

#include "fixture.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_clock : public on_zookeeper {};

// By how much the server's clock, which dates nodes, is ahead of ours.
std::chrono::milliseconds seen_offset(session_client& by, const std::string& node) {
  EXPECT_EQ(by.create(node).code, error::ok);
  const auto stat = zookeeper::read_stat(by.exists(node).bytes());
  const auto ours = std::chrono::system_clock::now().time_since_epoch();
  return stat ? std::chrono::milliseconds(stat->ctime_ms) -
                    std::chrono::duration_cast<std::chrono::milliseconds>(ours)
              : 0ms;
}

TEST_F(zookeeper_clock, of_the_server_stepped_by_an_hour_neither_loses_nor_doubles_a_lock) {
  zookeeper_server server({.tick = 500ms, .clock_shim = true});
  tcp_proxy proxy(server.port());
  session_client by_hand(server.url());
  by_hand.open();
  const client mine = client::open(at_port(proxy.port(), "?session-timeout=10s")),
               other = client::open(server.url());
  fault_test::call_recorder calls;
  lease held = calls.acquire("a", mine, "x"), got;
  std::thread waiter([&] { got = calls.acquire("b", other, "x"); });
  EXPECT_TRUE(eventually([&] { return by_hand.children_of("/x").size() == 2; }));
  for (const auto step : {1h, -1h}) {
    server.set_clock(step);
    const auto seen = seen_offset(by_hand, step > 0h ? "/ahead" : "/behind");
    EXPECT_LT(abs(seen - step), 10min) << "the clock is not stepped";
    // Renewed since, after many of the server's ticks.
    const auto before = held.expires();
    EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > before + 2s; }));
    EXPECT_TRUE(calls.check("a", held));
    EXPECT_EQ(by_hand.children_of("/x").size(), 2u);
  }
  proxy.set_both({.hold = true});  // the session ends though its hour is not over
  waiter.join();
  EXPECT_FALSE(calls.check("a", held));
  EXPECT_TRUE(calls.check("b", got));
  EXPECT_EQ(to_text(calls.violations()), "");
}

}  // namespace
}  // namespace holdfast::zookeeper_test
