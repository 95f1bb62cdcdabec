// A Redis master fails over to a replica that does not have the lock.
#include <holdfast/holdfast.hpp>

#include <thread>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::redis_server;
using testkit::tcp_proxy;

constexpr const char* quick_close = "?close-timeout=100ms";  // at a master that is dead

// A master and a replica, with a network between them that can be cut.
struct replicated {
  explicit replicated(play& p)
      : a(p.line, "client A"), b(p.line, "client B"), servers(p.line, "servers") {
    replica.command({"REPLICAOF", "127.0.0.1", std::to_string(network.port())});
    wait_until("the replica is in sync", [&] {
      return replica.info("master_link_status") == "up" &&
             master.info("slave0").find("state=online") != std::string::npos;
    });
    naive_redis(master).command({"SET", "copied", "1"});
    wait_until("the replica copies", [&] { return !replica.command({"GET", "copied"}).is_nil(); });
  }

  void cut() {
    network.set(direction::to_client, {.swallow = true});
    servers.note("replication to the replica is delayed");
    std::this_thread::sleep_for(50ms);
  }
  void fail_over() {
    std::this_thread::sleep_for(100ms);
    master.kill_hard();
    servers.note("the master dies; what it has not copied is lost");
    std::this_thread::sleep_for(100ms);
    replica.promote();
    servers.note("the replica is promoted (REPLICAOF NO ONE)");
    std::this_thread::sleep_for(50ms);
  }

  redis_server master, replica;
  tcp_proxy network{master.port()};
  actor a, b, servers;
};

void failover_naive(play& p) {
  replicated on(p);
  naive_redis first(on.master), second(on.replica);
  on.cut();
  require(first.set_nx_px("A", 10s), "A gets the lock");
  on.a.holds("SET lock A NX PX 10000 at the master: OK");
  on.fail_over();
  on.a.believes("its lock was lost with the master; A has got no error");
  const bool is_granted = second.set_nx_px("B", 10s);
  on.b.also_holds("SET lock B NX PX 10000 at the new master: OK");
  std::this_thread::sleep_for(200ms);
  p.ends(is_granted, "A and B hold the lock at the same time. Redis replies before it replicates, "
                     "so a failover may lose any recent write.");
}

void failover_wait(play& p) {
  replicated on(p);
  naive_redis first(on.master), second(on.replica);
  first.command({"CONFIG", "SET", "min-replicas-max-lag", "1"});
  first.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
  on.servers.note("the master has min-replicas-to-write 1, min-replicas-max-lag 1");
  on.cut();
  require(first.set_nx_px("A", 10s), "the master takes A's write");
  on.a.waits("SET lock A NX PX 10000: OK. Next: WAIT 1 100, for the replica");
  const long long copies = first.command({"WAIT", "1", "100"}).number;
  on.a.ends("WAIT: " + std::to_string(copies) +
            " replicas have it. A does not count as the holder");
  require(copies == 0, "no replica has the lock");
  on.network.set(direction::to_server, {.swallow = true});
  wait_until("the master refuses writes", [&] {
    return first.command({"SET", "other", "A"}).is_error();
  });
  on.servers.good("SET other: NOREPLICAS. Cut off from its replica, the master takes no writes");
  on.fail_over();
  const bool is_granted = second.set_nx_px("B", 10s);
  if (is_granted) on.b.holds("SET lock B NX PX 10000 at the new master: OK");
  std::this_thread::sleep_for(200ms);
  p.ends(!is_granted || copies != 0,
         "a client that waits for the replica does not take a lock that "
         "a failover may lose.");
}

void failover_unreplicated(play& p) {
  replicated on(p);
  redis_server store;  // of the protected data
  const client first = client::open(on.master.url() + quick_close);
  redis_guard data(client::open(store.url()), "report");
  actor report(p.line, "the report");
  on.cut();
  const lease own = first.mutex(lock_name).acquire({.ttl = 20s});
  on.a.holds("acquire(): granted by the master");
  on.fail_over();
  on.a.believes("its lock was lost with the master; held() is true for the rest of its lease");
  const client second = client::open(on.replica.url());
  const lease next = second.mutex(lock_name).acquire({.ttl = 20s});
  on.b.also_holds("acquire(): granted by the new master, with a greater token");
  require(own.held() && next.token() > own.token(), "the token of B is greater");
  require(data.write(next, "B"), "B writes");
  report.note("B's write with its token: stored");
  std::this_thread::sleep_for(100ms);
  const bool is_written = data.write(own, "A");
  if (is_written) report.bad("A's write: stored");
  if (!is_written) report.good("A's write with its smaller token: refused");
  std::this_thread::sleep_for(100ms);
  p.ends(is_written,
         "without replicas= a failover may lose holdfast's locks too. Tokens follow the "
         "clock and are greater even after the loss, so the data refuse A.");
}

void failover_replicated(play& p) {
  replicated on(p);
  const client first =
      client::open(on.master.url() + "?replicas=1&op-timeout=3s&close-timeout=100ms");
  on.cut();
  on.a.waits("try_acquire() with ?replicas=1");
  std::error_code why;
  const lease own = first.mutex(lock_name).try_acquire({}, why);
  on.a.ends(own ? "granted" : "not granted: no replica has the lock (" + why.message() + ')');
  on.fail_over();
  const client second = client::open(on.replica.url());
  const lease next = second.mutex(lock_name).acquire();
  on.b.holds("acquire(): granted by the new master");
  std::this_thread::sleep_for(200ms);
  p.ends(own || !next.held(),
         "a grant counts only after the replica has it. A got an error instead "
         "of a lock that was about to be lost.");
}

}  // namespace

std::vector<story> redis_failover_stories() {
  return {
      {"failover",
       "The master fails over before it has replicated the lock",
       "A gets the lock from a master. The master dies before the lock reaches its replica, and "
       "the replica is promoted.",
       "Replication in Redis is asynchronous. A client that waits for replicas (WAIT, with "
       "min-replicas-to-write at the server; ?replicas= in holdfast) takes no lock that such a "
       "failover can lose, and gets no lock while the replicas are out of reach.",
       server::redis,
       {{"SET NX PX", verdict::breaks, failover_naive},
        {"SET NX PX, WAIT, and min-replicas-to-write", verdict::stands, failover_wait},
        {"holdfast, without replicas=", verdict::fence_stands, failover_unreplicated},
        {"holdfast, ?replicas=1", verdict::stands, failover_replicated}}},
  };
}

}  // namespace holdfast::lab
