// Sessions at servers that stall, and at servers that grant other time-outs.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "rounds.hpp"
#include "testkit/servers/port.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::zookeeper_test {
namespace {

using core::time_point;
using testkit::zookeeper_ensemble;

class zookeeper_session_rounds : public on_zookeeper {};

time_point clock_now() { return core::system_environment().now(); }

// Made at 2 s, attached again at 10 s by a server with other bounds, which then loses its leader.
// Returns for how long the session was still believed when its node was gone.
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
  const int gone = other.count("2 /own");
  long_one.refuse(false);
  short_one.refuse(true);
  short_one.reset_all();
  const auto is_believed = [&] { return c.deadline_of(id) > clock_now() + 5s; };
  EXPECT_TRUE(eventually([&] { return c.count("lost") > 0 || is_believed(); }));
  all.link(1, leader).set_both({.hold = true});
  EXPECT_TRUE(eventually([&] { return other.count("2 /own") > gone; }));
  const core::duration out = c.count("lost") > 0 ? 0s : c.deadline_of(id) - clock_now();
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
}

// So many sessions that nobody uses, each over a connection of its own.
class bare_sessions {
 public:
  bare_sessions(int port, int count) {
    for (int i = 0; i < count; ++i) {
      sockets_.push_back(testkit::connect_to(port));
      std::string out;
      zookeeper::append_connect(out, {.timeout_ms = 4'000});
      send(sockets_.back(), out);
      char answer[64];
      EXPECT_GT(::recv(sockets_.back(), answer, sizeof answer, 0), 0) << i;
      if (i % often == 0) ping_all();
    }
  }
  bare_sessions(const bare_sessions&) = delete;
  bare_sessions& operator=(const bare_sessions&) = delete;
  ~bare_sessions() {
    for (const int s : sockets_) ::close(s);
  }
  void ping_all() {
    std::string out;
    zookeeper::append_ping(out);
    for (const int s : sockets_) send(s, out);
  }

 private:
  static constexpr int often = 200;
  // On a busy machine some may have been ended: there are enough of them.
  static void send(int socket, const std::string& bytes) {
    (void)!::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  std::vector<int> sockets_;
};

// All sessions are in one bucket of the server, which stalls until it has to end them. It ends them
// one after the other, and answers those not yet ended. Returns how many were believed longer.
int believed_after_a_stall(int clients, int unused) {
  constexpr int batch = 40;  // its backlog of connections is 50
  zookeeper_server server({.tick = 2'000ms, .config = {"maxClientCnxns=0"}});
  session_client other(server.url() + "?session-timeout=40s");
  other.open();
  bare_sessions others(server.port(), unused);
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
    others.ping_all();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    ids.push_back(all[i]->id());
    (void)other.exists(node(i), true);
  }
  others.ping_all();
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
  const int clients = plays_all() ? 120 : 40, unused = plays_all() ? 2'500 : 400;
  const int believed = believed_after_a_stall(clients, unused);
  std::printf("server stalled: %d of %d sessions believed too long\n", believed, clients);
  EXPECT_EQ(believed, 0);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
