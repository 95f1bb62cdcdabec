// Locks at three servers, whose leaders die and stop while locks are held, wanted and released.
#include "lock_fixture.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "tests/fault/contenders.hpp"

namespace holdfast::zookeeper_test {
namespace {

class zookeeper_locks_on_ensemble : public on_zookeeper {};

// The history of all clients is judged: overlap, the order of tokens, lost wake-ups.
TEST_F(zookeeper_locks_on_ensemble, have_one_holder_while_leaders_die_and_stop_and_links_fail) {
  testkit::zookeeper_ensemble all({.config = {"syncLimit=10"}});
  const std::string url = all.url() + "?session-timeout=3s&op-timeout=30s";
  fault_test::contenders of_all({url, url, url, url},
                                {.threads_each = 1, .check = {.wake_bound = 20s, .lapse = 10s}});
  const auto go_on = [&](const char* when) {
    SCOPED_TRACE(when);
    of_all.wait_for_plays(30);
    if (HasFailure()) ADD_FAILURE() << all.logs();
  };
  go_on("at three servers");
  const int killed = all.leader();
  all.at(killed).kill_hard();
  go_on("after the leader's death");
  all.at(killed).start();
  go_on("after its return");
  const int stopped = all.leader();
  all.at(stopped).stop();
  go_on("while the leader is stopped");
  all.at(stopped).go_on();
  go_on("after it goes on");
  // ZooKeeper 3.8 commits nothing more if its one follower still catches up when the others go.
  EXPECT_TRUE(eventually([&] { return all.at(stopped).mode() == "follower"; }));
  const int leader = all.leader(), follower = leader == 1 ? 2 : 1;
  tcp_proxy& link = all.link(follower, leader);
  link.set_both({.hold = true});
  go_on("while a follower's link is held");  // its clients are served later, or elsewhere
  link.set_both({});
  link.reset_all();
  go_on("after the link is back");
}

// Without a quorum no lock is believed in for longer than the session, and none is granted.
TEST_F(zookeeper_locks_on_ensemble, are_not_held_at_a_minority) {
  testkit::zookeeper_ensemble all;
  client mine = client::open(all.url() + "?session-timeout=2s&op-timeout=2s");
  mutex a(mine, "x");
  lease held = a.acquire();
  const int first = all.follower();
  all.at(first).kill_hard();
  const int second = all.follower();
  all.at(second).kill_hard();
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  std::error_code why;
  EXPECT_FALSE(bool(mutex(mine, "y").try_acquire_for(1s, {}, why)));
  EXPECT_EQ(why, errc::unavailable);
  all.at(first).start();
  EXPECT_TRUE(bool(mutex(mine, "y").acquire()));
  held.release(why);
  EXPECT_EQ(why, errc::lost);
  EXPECT_TRUE(bool(a.acquire()));
}

}  // namespace
}  // namespace holdfast::zookeeper_test
