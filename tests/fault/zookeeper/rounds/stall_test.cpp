// Sessions at a server that stalls until it has to end them.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "rounds.hpp"
#include "testkit/servers/port.hpp"

namespace holdfast::zookeeper_test {
namespace {

using base::time_point;

time_point clock_now() { return base::system_environment().now(); }

// That number of idle sessions, each over a connection of its own.
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

// Sessions with an ephemeral node each, which another session watches.
class watched_sessions {
 public:
  watched_sessions(const zookeeper_server& server, session_client& watcher, int count)
      : watcher_(watcher) {
    constexpr int batch = 40;
    while (static_cast<int>(all_.size()) < count) {
      std::vector<std::thread> openers;
      for (int i = 0; i < batch; ++i) {
        all_.push_back(std::make_unique<session_client>(server.url() + "?session-timeout=4s"));
        openers.emplace_back([&c = *all_.back(), path = node(all_.size() - 1)] {
          c.open();
          (void)c.create(path, node_kind::ephemeral);
        });
      }
      for (std::thread& t : openers) t.join();
    }
  }

  void watch() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      ids_.push_back(all_[i]->id());
      (void)watcher_.exists(node(i), true);
    }
  }
  time_point last_deadline() {
    time_point last{};
    for (std::size_t i = 0; i < all_.size(); ++i) last = std::max(last, deadline(i));
    return last;
  }
  // Waits until all nodes are gone. How many sessions were believed then.
  int believed_when_gone() {
    int believed = 0;
    std::vector<bool> is_gone(all_.size());
    EXPECT_TRUE(eventually([&] {
      for (std::size_t i = 0; i < all_.size(); ++i) {
        if (is_gone[i] || watcher_.count("2 " + node(i)) == 0) continue;
        is_gone[i] = true;
        if (deadline(i) > clock_now()) ++believed;
      }
      return std::ranges::count(is_gone, true) == std::ssize(is_gone);
    }));
    return believed;
  }

 private:
  static std::string node(std::size_t i) { return "/n-" + std::to_string(i); }
  time_point deadline(std::size_t i) { return all_[i]->deadline_of(ids_[i]); }

  session_client& watcher_;
  std::vector<std::unique_ptr<session_client>> all_;
  std::vector<std::int64_t> ids_;
};

// All sessions are in one bucket of the server, which stalls until it has to end them. It ends them
// one after the other, and answers those not yet ended: also the requests that they sent while it
// stood still. Returns how many were believed longer than their nodes were there.
int believed_after_a_stall(int clients, int unused) {
  zookeeper_server server(
      {.tick = 4'000ms,
       // Room for every attempt of each client, and a log as servers in use have it.
       .config = {"maxClientCnxns=0", "minSessionTimeout=4000", "clientPortListenBacklog=1000"},
       .properties = {"org.slf4j.simpleLogger.defaultLogLevel=info"}});
  session_client other(server.url() + "?session-timeout=40s");
  other.open();
  watched_sessions all(server, other, clients);
  bare_sessions others(server.port(), unused);
  all.watch();
  others.ping_all();
  server.stop();
  const time_point last = all.last_deadline();
  EXPECT_TRUE(eventually([&] { return clock_now() > last + 4s; }));
  server.go_on();
  return all.believed_when_gone();
}

class zookeeper_stall : public on_zookeeper {};

TEST_F(zookeeper_stall, of_a_server_outlives_no_session) {
  const int clients = plays_all() ? 120 : 40, unused = plays_all() ? 2'500 : 400;
  const int believed = believed_after_a_stall(clients, unused);
  std::printf("server stalled: %d of %d sessions believed too long\n", believed, clients);
  EXPECT_EQ(believed, 0);
}

}  // namespace
}  // namespace holdfast::zookeeper_test
