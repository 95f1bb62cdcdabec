// ZooKeeper: a session that a release closes, and an ensemble that is split in two.
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

#include "lab/naive_zookeeper.hpp"
#include "lab/story.hpp"
#include "lab/zookeeper.hpp"
#include "testkit/servers/tcp_proxy.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::zookeeper_ensemble;

void session_closed_naive(play& p) {
  const int port = shared_zookeeper().port();
  const std::string name = fresh_name(), orders = "/" + name + "-orders",
                    stock = "/" + name + "-stock";
  naive_zookeeper shared(port, 60s), other(port, 60s);
  actor first(p.line, "A, thread 1"), second(p.line, "A, thread 2"), b(p.line, "client B");
  require(shared.create_ephemeral(orders), "thread 1 gets the lock");
  first.holds("create /orders, ephemeral: OK");
  std::this_thread::sleep_for(100ms);
  require(shared.create_ephemeral(stock), "thread 2 gets its lock");
  second.has_another("create /stock, ephemeral, in the same session: OK. Another lock");
  require(!other.create_ephemeral(orders), "the lock of thread 1 is busy");
  b.note("create /orders: node exists");
  std::this_thread::sleep_for(100ms);
  shared.close_session();
  second.ends("its release closes the session. ZooKeeper removes all nodes of the session",
              tone::bad);
  first.believes("its node is removed too; thread 1 still works, and gets no error");
  std::this_thread::sleep_for(50ms);
  const bool is_granted = other.create_ephemeral(orders);
  b.also_holds("create /orders, ephemeral: OK, while thread 1 works");
  std::this_thread::sleep_for(200ms);
  p.ends(is_granted, "the release of one lock has released all locks of the process, and thread 1 "
                     "and B hold the same lock.");
}

void session_kept(play& p) {
  const std::string url = shared_zookeeper().url() + "?session-timeout=60s";
  const std::string name = fresh_name(), orders = name + "-orders", stock = name + "-stock";
  client mine = client::open(url);
  const client other = client::open(url);
  actor first(p.line, "A, thread 1"), second(p.line, "A, thread 2"), b(p.line, "client B");
  const lease own = mine.mutex(orders).acquire();
  first.holds("mutex(\"orders\").acquire(): granted");
  std::this_thread::sleep_for(100ms);
  lease another = mine.mutex(stock).acquire();
  second.has_another("mutex(\"stock\").acquire(), with the same client: granted. Another lock");
  std::this_thread::sleep_for(100ms);
  another.release();
  second.ends("release(): removes the node of this lock, and nothing else");
  const lease released = other.mutex(stock).try_acquire();
  const lease early = other.mutex(orders).try_acquire();
  b.good("try_acquire() of stock: granted; of orders: busy");
  std::this_thread::sleep_for(100ms);
  const bool is_kept = own.held();
  mine.close();
  const std::error_code why = own.status();
  first.ends("client.close() ends the session. status() of the lease of orders: " + why.message());
  const lease next = other.mutex(orders).try_acquire_for(20s);
  if (next) b.holds("acquire() of orders: granted");
  std::this_thread::sleep_for(100ms);
  p.ends(!released || early || !is_kept || why != errc::closed || !next,
         "a release ends one lock. Only close(), or the end of the last client object, ends the "
         "session, and then each lease reports it.");
}

// One ensemble for all plays. A follower that has lost its leader goes on serving for 100 ticks of
// 200 ms, far longer than the sessions of A last.
zookeeper_ensemble& shared_ensemble() {
  static zookeeper_ensemble one({.config = {"syncLimit=100", "maxSessionTimeout=600000"}});
  return one;
}

// Client A uses a server that is cut off from the two others; client B uses the leader.
struct split_ensemble {
  explicit split_ensemble(play& p)
      : a(p.line, "client A"), b(p.line, "client B"), servers(p.line, "servers") {}
  ~split_ensemble() {
    network().set_both({});
    network().reset_all();
  }
  split_ensemble(const split_ensemble&) = delete;
  split_ensemble& operator=(const split_ensemble&) = delete;

  testkit::tcp_proxy& network() { return all.link(minority, leader); }
  void cut() {
    network().set_both({.hold = true});
    servers.bad("the network between the server of A and the two others fails");
  }
  int port_of_a() { return all.at(minority).port(); }
  int port_of_b() { return all.at(leader).port(); }
  // The server of A may have to rejoin the ensemble, after an earlier play.
  client open_a() {
    return client::open(all.at(minority).url() +
                        "?session-timeout=3s&op-timeout=30s&close-timeout=100ms");
  }
  client open_b() {
    return client::open(all.at(leader).url() + "?session-timeout=60s&op-timeout=30s");
  }

  zookeeper_ensemble& all = shared_ensemble();
  const int leader = all.leader(), minority = leader == 1 ? 2 : 1;
  actor a, b, servers;
};

void split_naive(play& p) {
  split_ensemble s(p);
  const std::string node = "/" + fresh_name();
  wait_until("the server of A serves", [&] { return !s.all.at(s.minority).mode().empty(); });
  naive_zookeeper first(s.port_of_a(), 3s), second(s.port_of_b(), 60s);
  require(first.create_ephemeral(node), "A gets the lock");
  s.a.holds("create /lock, ephemeral: OK. The session timeout is 3 s");
  std::this_thread::sleep_for(100ms);
  s.cut();
  s.b.waits("create /lock: node exists, repeated each 20 ms");
  wait_until("B gets the lock", [&] {
    std::this_thread::sleep_for(20ms);
    require(first.exists(node), "the server of A has A's node");
    return second.create_ephemeral(node);
  });
  s.servers.note("the majority has ended A's session, because its server reports nothing more");
  s.a.believes("its own server still replies, and still has A's node");
  s.b.also_holds("create /lock, ephemeral: OK, at the majority");
  std::this_thread::sleep_for(300ms);
  const bool believes = first.exists(node);
  s.a.bad(believes ? "exists /lock: yes. A goes on working" : "exists /lock: no");
  std::this_thread::sleep_for(200ms);
  p.ends(believes, "A and B hold the lock at the same time, each with the consent of its server. A "
                   "server of the minority serves reads and pings without the others.");
}

void split_checked(play& p) {
  split_ensemble s(p);
  const std::string lock = fresh_name();
  const client first = s.open_a(), second = s.open_b();
  const lease own = first.mutex(lock).acquire();
  s.a.holds("acquire(): granted. The session timeout is 3 s");
  std::this_thread::sleep_for(100ms);
  s.cut();
  lease next;
  std::atomic<bool> was_held{false};
  s.b.waits("acquire(): busy, waits");
  std::jthread waits([&](const std::stop_token& stop) {
    std::error_code ended;
    next = second.mutex(lock).acquire({}, stop, ended);
    was_held = own.held();
  });
  wait_until("A is in doubt", [&] { return own.in_doubt(); });
  s.a.note("in_doubt(): no reply of the majority for a third of the session timeout");
  wait_until("A's lease ends", [&] { return !own.held(); });
  s.a.ends("held() is false: A stops its work", tone::good);
  waits.join();
  s.b.holds("granted: the majority has ended A's session");
  std::this_thread::sleep_for(200ms);
  p.ends(was_held || !next.held(),
         "only requests that the leader has executed extend the lease, and A's server cannot reach "
         "the leader. So A stopped before the majority granted the lock to B.");
}

void split_fenced(play& p) {
  split_ensemble s(p);
  actor data(p.line, "the report");
  fencing_guard fence;
  const std::string lock = fresh_name();
  const client first = s.open_a(), second = s.open_b();
  const lease own = first.mutex(lock).acquire();
  const std::int64_t token_of_a = own.token();
  s.a.holds("acquire(): granted. A sends its write with its token, and the write is delayed");
  std::this_thread::sleep_for(100ms);
  s.cut();
  s.b.waits("acquire(): busy, waits");
  const lease next = second.mutex(lock).try_acquire_for(60s);
  require(bool(next), "B gets the lock");
  s.a.believes("its write is still on its way");
  s.b.also_holds("granted: the majority has ended A's session");
  std::this_thread::sleep_for(100ms);
  require(fence.admit(next), "B writes");
  data.note("B writes with its token: stored");
  std::this_thread::sleep_for(100ms);
  const bool is_stored = fence.admit(token_of_a, "A");
  if (!is_stored) data.good("A's write arrives with its smaller token: refused");
  std::this_thread::sleep_for(100ms);
  p.ends(is_stored, "A cannot take back what it has sent. The token of B is greater, and the data "
                    "refuse the late write.");
}

}  // namespace

std::vector<story> zookeeper_session_stories() {
  return {
      {"session-closed-by-release",
       "A release closes the session",
       "Two threads of a process hold two locks, with one session of ZooKeeper. The release of a "
       "lock closes the session, which is the shortest way to remove its ephemeral node.",
       "All ephemeral nodes of a client belong to its session, and the end of the session removes "
       "them all. A release must remove one node, as holdfast's does. A session for each lock "
       "would cost a connection and two more transactions.",
       server::zookeeper,
       {{"ephemeral nodes, and close() as the release", verdict::breaks, session_closed_naive},
        {"holdfast", verdict::stands, session_kept}}},
      {"split-ensemble",
       "An ensemble is split in two",
       "Three servers, and the network between one of them and the two others fails. The holder "
       "uses the server that is alone.",
       "A server that has lost the others does not detect it at once, and serves its clients until "
       "then. The majority ends the sessions of these clients, and grants their locks again. "
       "holdfast's deadline counts only from requests that the leader has executed.",
       server::zookeeper,
       {{"an ephemeral node, and exists() as the check", verdict::breaks, split_naive},
        {"holdfast, held() before each step", verdict::stands, split_checked},
        {"holdfast, a write that is delayed", verdict::fence_stands, split_fenced}}},
  };
}

}  // namespace holdfast::lab
