// Redlock when a server forgets a lock: its clock jumps, or it is restarted without its data.
#include <holdfast/holdfast.hpp>

#include <optional>
#include <thread>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::redis_options;
using testkit::redlock_servers;
using testkit::tcp_proxy;

// Three servers. A's connection to server 3 may be cut: then A has the votes of 1 and 2.
struct electorate {
  // max_ttl: how long a server that has lost its data does not vote.
  electorate(play& p, std::chrono::seconds max_ttl, const redis_options& of_servers)
      : all(3, redlock_servers::history::long_running, of_servers),
        options("?ttl=" + std::to_string(max_ttl.count()) + "s&max-ttl=" +
                std::to_string(max_ttl.count()) + "s&op-timeout=5s&close-timeout=100ms"),
        a(p.line, "client A"),
        b(p.line, "client B"),
        servers(p.line, "servers") {
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].command({"HSET", "holdfast:redlock", "max-ttl",
                      std::to_string(std::chrono::milliseconds(max_ttl).count())});
    path.emplace(all[2].port());
  }
  // The URL that A uses.
  std::string url_of_a() {
    return "redlock://127.0.0.1:" + std::to_string(all[0].port()) +
           ",127.0.0.1:" + std::to_string(all[1].port()) +
           ",127.0.0.1:" + std::to_string(path->port()) + options;
  }
  std::string url_of_b() const { return all.url() + options; }
  void cut_a_from_third() { path->set_both({.hold = true}); }

  // SET NX PX at these servers: how many have granted it.
  int votes(const std::string& owner, std::initializer_list<std::size_t> at) {
    int granted = 0;
    for (const std::size_t i : at) granted += naive_redis(all[i]).set_nx_px(owner, 20s);
    return granted;
  }

  redlock_servers all;
  std::string options;
  std::optional<tcp_proxy> path;
  actor a, b, servers;
};

void naive_vote(play& p, electorate& on, const std::function<void()>& forget) {
  require(on.votes("A", {0, 1}) == 2, "A gets the lock");
  on.a.holds("SET lock A NX PX 20000 at servers 1 and 2: OK. The request to 3 is lost");
  std::this_thread::sleep_for(100ms);
  forget();
  std::this_thread::sleep_for(100ms);
  on.a.believes("only server 1 still has its lock");
  const int votes = on.votes("B", {0, 1, 2});
  on.b.also_holds("SET lock B at server 1: busy; at servers 2 and 3: OK. A majority");
  std::this_thread::sleep_for(200ms);
  p.ends(votes == 2, "A and B both had a majority: server 2 voted for both.");
}

void jump_naive(play& p) {
  electorate on(p, 20s, {.durable = true, .clock_shim = true});
  naive_vote(p, on, [&] {
    on.all[1].set_clock(1min);
    on.servers.bad("the clock of server 2 jumps ahead by a minute: the lock there expires");
  });
}

void jump_minority(play& p) {
  electorate on(p, 20s, {.durable = true, .clock_shim = true});
  const client first = client::open(on.url_of_a()), second = client::open(on.url_of_b());
  const lease own = first.mutex(lock_name).acquire({.ttl = 3s});
  wait_until("all servers have the lock", [&] {
    for (std::size_t i = 0; i < on.all.size(); ++i)
      if (naive_redis(on.all[i]).is_free()) return false;
    return true;
  });
  on.a.holds("acquire(): granted by servers 1, 2 and 3");
  std::this_thread::sleep_for(100ms);
  on.all[1].set_clock(1min);
  on.servers.bad("the clock of server 2 jumps ahead by a minute: the lock there expires");
  std::this_thread::sleep_for(100ms);
  const lease next = second.mutex(lock_name).try_acquire();
  on.b.good("try_acquire(): busy. Only server 2 would grant it");
  std::this_thread::sleep_for(200ms);
  p.ends(bool(next) || !own.held(),
         "the jump of one clock takes one vote, and A had one to spare.");
}

void jump_holdfast(play& p) {
  electorate on(p, 20s, {.durable = true, .clock_shim = true});
  testkit::redis_server store;
  const client first = client::open(on.url_of_a()), second = client::open(on.url_of_b());
  redis_guard data(client::open(store.url()), "report");
  actor report(p.line, "the report");
  on.cut_a_from_third();
  const lease own = first.mutex(lock_name).acquire({.renew = renewal::manual});
  on.a.holds("acquire(): granted by servers 1 and 2. Server 3 is out of A's reach");
  std::this_thread::sleep_for(100ms);
  on.all[1].set_clock(1min);
  on.servers.bad("the clock of server 2 jumps ahead by a minute: the lock there expires");
  const lease next = second.mutex(lock_name).try_acquire_for(10s);
  require(own.held() && next, "both hold the lock");
  on.a.believes("only server 1 still has its lock; held() is true for the rest of its lease");
  on.b.also_holds("acquire(): granted by servers 2 and 3, with a greater token");
  require(next.token() > own.token(), "the token of B is greater");
  require(data.write(next, "B"), "B writes");
  report.note("B's write with its token: stored");
  std::this_thread::sleep_for(100ms);
  const bool is_written = data.write(own, "A");
  if (!is_written) report.good("A's write with its smaller token: refused");
  std::this_thread::sleep_for(100ms);
  p.ends(is_written, "the lock depends on the clocks of a majority. The tokens do not: B's is "
                     "greater, and the data refuse A.");
}

void restart_naive(play& p) {
  electorate on(p, 2s, {});
  naive_vote(p, on, [&] {
    on.all[1].restart(false);
    on.servers.bad("server 2 is restarted; it keeps no data on disk, and is empty");
  });
}

void restart_holdfast(play& p) {
  electorate on(p, 2s, {});
  const client first = client::open(on.url_of_a()), second = client::open(on.url_of_b());
  on.cut_a_from_third();
  const lease own = first.mutex(lock_name).try_acquire_for(10s, {.renew = renewal::manual});
  require(bool(own), "A gets the lock");
  on.a.holds("acquire(), ttl 2 s: granted by servers 1 and 2. Server 3 is out of A's reach");
  std::this_thread::sleep_for(100ms);
  on.all[1].restart(false);
  on.servers.bad("server 2 is restarted; it keeps no data on disk, and is empty");
  std::jthread watches([&] {
    wait_until("A's lease ends", [&] { return !own.held(); });
    on.a.ends("its lease has ended");
  });
  on.b.waits("acquire(): server 1 is busy, 3 is free, and 2 may not vote yet");
  lease next;
  std::error_code why;
  wait_until("B gets the lock", [&] {
    next = second.mutex(lock_name).try_acquire_for(1s, {}, why);
    return bool(next);
  });
  const bool is_early = own.held();
  on.b.holds("granted");
  watches.join();
  std::this_thread::sleep_for(200ms);
  p.ends(is_early,
         "a restarted server without its data does not vote until every lease that it may "
         "have granted has ended (max-ttl, here 2 s).");
}

}  // namespace

std::vector<story> redlock_stories() {
  return {
      {"redlock-clock-jump",
       "Redlock, and a server whose clock jumps",
       "Redlock acquires a lock at a majority of independent servers. A has servers 1 and 2 of "
       "three. Then the clock of server 2 is set forward, for example by an administrator or by "
       "NTP.",
       "Redlock assumes that the clocks of a majority run at the same rate. The step of one clock "
       "is harmless while the holder has a vote to spare; otherwise only the fencing token "
       "protects the data.",
       server::redis,
       {{"Redlock by hand", verdict::breaks, jump_naive},
        {"holdfast, a vote to spare", verdict::stands, jump_minority},
        {"holdfast, no vote to spare", verdict::fence_stands, jump_holdfast}}},
      {"redlock-restart",
       "Redlock, and a server that is restarted without its data",
       "A has the votes of servers 1 and 2 of three. Server 2 crashes and is restarted empty.",
       "A server that has forgotten its votes would vote twice. It has to stay away until every "
       "lease from before the restart has ended; holdfast's clients see to it, and a server with "
       "an append-only file has nothing to wait for.",
       server::redis,
       {{"Redlock by hand", verdict::breaks, restart_naive},
        {"holdfast", verdict::stands, restart_holdfast}}},
  };
}

}  // namespace holdfast::lab
