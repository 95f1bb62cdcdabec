// Sessions at servers that stall, and at servers that grant other time-outs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "rounds.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

using core::mutant;
using core::time_point;
using testkit::zookeeper_ensemble;

class zookeeper_session_rounds : public on_zookeeper {};

time_point clock_now() { return core::system_environment().now(); }

// Made at 2 s, attached again at 10 s by a server with other bounds, which then loses its leader.
// Returns for how long the session was believed when its node was gone.
core::duration believed_after_another_timeout(zookeeper_ensemble& all) {
  const int leader = all.leader(), second = leader == 3 ? 2 : 3;
  tcp_proxy short_one(all.at(second).port()), long_one(all.at(1).port());
  session_client other(all.at(leader).url() + "?op-timeout=60s");
  session_client c("zookeeper://127.0.0.1:" + std::to_string(short_one.port()) + ",127.0.0.1:" +
                   std::to_string(long_one.port()) + "?session-timeout=2s&op-timeout=60s");
  long_one.refuse(true);
  other.open();
  c.open();
  const auto id = eventual_owner_of_own(c, other);
  const int gone = other.count("2 /own"), moved = c.count("again") + c.count("lost");
  long_one.refuse(false);
  short_one.refuse(true);
  short_one.reset_all();
  EXPECT_TRUE(eventually([&] { return c.count("again") + c.count("lost") > moved; }));
  all.link(1, leader).set_both({.hold = true});
  EXPECT_TRUE(eventually([&] { return other.count("2 /own") > gone; }));
  const core::duration out = c.deadline_of(id) - clock_now();
  all.link(1, leader).set_both({});
  all.link(1, leader).reset_all();
  return out;
}

TEST_F(zookeeper_session_rounds, the_smallest_time_out_counts) {
  zookeeper_ensemble all({.tick = 500ms, .config = {"syncLimit=20"}}, {"minSessionTimeout=10000"});
  if (all.leader() == 1) {
    all.at(1).kill_hard();
    (void)all.leader();
    all.at(1).start();
  }
  EXPECT_LE(believed_after_another_timeout(all), 0s);
  if (!plays_all()) return;
  const planted_mutant control(mutant::renegotiated_timeout_believed);
  ASSERT_TRUE(eventually([&] { return all.at(1).mode() == "follower"; }));
  const auto overlap = believed_after_another_timeout(all);
  std::printf("another time-out believed: overlap %.1f s\n",
              std::chrono::duration<double>(overlap).count());
  EXPECT_GT(overlap, 0s);
}

// All sessions are in one bucket of the server, which stalls until it has to end them. It ends them
// one after the other, and answers those not yet ended. Returns how many were believed longer.
int believed_after_a_stall(int clients) {
  constexpr int batch = 40;  // its backlog of connections is 50
  zookeeper_server server({.tick = 2'000ms, .config = {"maxClientCnxns=0"}});
  session_client other(server.url() + "?session-timeout=40s");
  other.open();
  std::vector<std::unique_ptr<session_client>> all;
  std::vector<std::int64_t> ids;
  const auto node = [](std::size_t i) { return "/n-" + std::to_string(i); };
  while (static_cast<int>(all.size()) < clients) {
    std::vector<std::thread> openers;
    for (int i = 0; i < batch; ++i) {
      all.push_back(std::make_unique<session_client>(server.url() + "?session-timeout=4s"));
      openers.emplace_back([&c = *all.back(), path = node(all.size() - 1)] {
        c.open();
        (void)c.create(path, node_kind::ephemeral);
      });
    }
    for (std::thread& t : openers) t.join();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ids.push_back(all[i]->id());
    (void)other.exists(node(i), true);
  }
  server.stop();
  time_point last{};
  for (std::size_t i = 0; i < all.size(); ++i) last = std::max(last, all[i]->deadline_of(ids[i]));
  EXPECT_TRUE(eventually([&] { return clock_now() > last + 2s; }));
  server.go_on();
  int longer = 0;
  std::vector<bool> is_gone(all.size());
  EXPECT_TRUE(eventually([&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_gone[i] || other.count("2 " + node(i)) == 0) continue;
      is_gone[i] = true;
      if (all[i]->deadline_of(ids[i]) > clock_now()) ++longer;
    }
    return std::ranges::count(is_gone, true) == std::ssize(is_gone);
  }));
  return longer;
}

TEST_F(zookeeper_session_rounds, no_session_outlives_a_stall_of_its_server) {
  const int clients = plays_all() ? 400 : 80;
  const int believed = believed_after_a_stall(clients);
  std::printf("server stalled: %d of %d sessions believed too long\n", believed, clients);
  EXPECT_EQ(believed, 0);
  if (!plays_all()) return;
  const planted_mutant control(mutant::late_acknowledgement_counted);
  const int longer = believed_after_a_stall(clients);
  std::printf("late acknowledgements counted: %d of %d sessions believed too long\n", longer,
              clients);
  EXPECT_GT(longer, 0);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
