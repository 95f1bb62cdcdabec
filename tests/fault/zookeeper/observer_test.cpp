// Locks of a client that is attached to an observer, a server of the ensemble that has no vote.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <thread>

#include "fixture.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {
namespace {

using testkit::zookeeper_ensemble;

class zookeeper_observer_on_ensemble : public on_zookeeper {};

// Each takes the lock in turn, whoever leads.
void take_in_turn(fault_test::call_recorder& calls, const client& mine, const client& other) {
  lease held = calls.acquire("a", mine, "x");
  std::thread waiter([&] {
    lease got = calls.acquire("b", other, "x");
    calls.check("b", got);
    calls.release("b", got);
  });
  calls.check("a", held);
  calls.release("a", held);
  waiter.join();
}

TEST_F(zookeeper_observer_on_ensemble, is_as_good_as_a_follower) {
  zookeeper_ensemble all({.config = {"syncLimit=20", "maxSessionTimeout=10000"}}, {}, true);
  const std::string observer = all.at(zookeeper_ensemble::observer).url();
  const client mine = client::open(observer + "?session-timeout=3s&op-timeout=60s"),
               other = client::open(all.url() + "?session-timeout=10s&op-timeout=60s");
  fault_test::call_recorder calls;
  lease held = calls.acquire("a", mine, "x"), got;
  const auto first = held.expires();
  EXPECT_TRUE(eventually([&] { return !held.held() || held.expires() > first + 1s; }));
  std::thread waiter([&] { got = calls.acquire("b", other, "x"); });
  tcp_proxy& link = all.link(zookeeper_ensemble::observer, all.leader());
  link.set_both({.hold = true});  // it goes on answering what it can by itself
  waiter.join();
  EXPECT_FALSE(calls.check("a", held));
  EXPECT_EQ(calls.release("a", held), errc::lost);
  EXPECT_FALSE(calls.release("b", got));
  link.set_both({});
  link.reset_all();
  take_in_turn(calls, mine, other);
  const int killed = all.leader();
  all.at(killed).kill_hard();
  take_in_turn(calls, mine, other);
  EXPECT_EQ(to_text(calls.violations()), "");

  all.at(killed).start();
  const std::string port = std::to_string(all.at(zookeeper_ensemble::observer).port());
  const client of_four = client::open(all.url() + ",127.0.0.1:" + port + "?op-timeout=30s");
  std::string servers;
  EXPECT_TRUE(eventually([&] {
    const auto found = of_four.diagnose();
    const auto f = std::ranges::find(found, "servers", &finding::what);
    servers = f == found.end() ? "" : f->why;
    return servers ==
           "4 of 4 servers of the URL serve; 127.0.0.1:" + port + " observes and has no vote";
  })) << servers;
}

}  // namespace
}  // namespace holdfast::zookeeper_test
