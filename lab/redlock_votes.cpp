// Redlock with five servers: clients that divide the votes among themselves, and two servers that
// are down.
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "lab/naive_redis.hpp"
#include "lab/story.hpp"
#include "testkit/servers/redlock_servers.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using testkit::direction;
using testkit::redlock_servers;
using testkit::tcp_proxy;

constexpr std::size_t five_servers = 5, majority_of_five = 3, three_clients = 3;
constexpr int naive_rounds = 6;

// The servers of each client in the order of their distance. A client's request reaches the near
// ones before the requests of the others.
constexpr std::array<std::array<std::size_t, five_servers>, three_clients> nearest_first{
    {{0, 1, 2, 3, 4}, {2, 3, 4, 0, 1}, {4, 0, 1, 2, 3}}};
constexpr std::array<std::size_t, three_clients> near_servers{2, 2, 1};
constexpr std::array<const char*, three_clients> client_names{"A", "B", "C"};

bool is_near(std::size_t of_client, std::size_t to_server) {
  for (std::size_t i = 0; i < near_servers[of_client]; ++i)
    if (nearest_first[of_client][i] == to_server) return true;
  return false;
}

std::size_t votes_given(redlock_servers& all) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    count += all[i].command({"EXISTS", lock_name}).number == 1 ? 1 : 0;
  return count;
}

bool vote_for(redlock_servers& all, std::size_t at, const std::string& owner, const char* px) {
  return !all[at].command({"SET", lock_name, owner, "NX", "PX", px}).is_nil();
}

void withdraw_from_all(redlock_servers& all, const std::string& owner) {
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].command({"EVAL",
                    "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) "
                    "end return 0",
                    "1", lock_name, owner});
}

void split_votes_naive(play& p) {
  redlock_servers all(five_servers);
  std::deque<actor> clients;
  for (const char* name : client_names) clients.emplace_back(p.line, std::string("client ") + name);
  actor servers(p.line, "servers");
  for (actor& c : clients) c.waits("SET lock NX PX 10000 at all servers, the nearest first");
  int won = 0;
  for (int round = 1; round <= naive_rounds; ++round) {
    std::array<std::size_t, three_clients> votes{};
    for (std::size_t step = 0; step < five_servers; ++step)
      for (std::size_t c = 0; c < three_clients; ++c)
        votes[c] += vote_for(all, nearest_first[c][step], client_names[c], "10000") ? 1 : 0;
    std::string text = "round " + std::to_string(round) + ":";
    for (std::size_t c = 0; c < three_clients; ++c) {
      text += std::string(c == 0 ? " " : ", ") + client_names[c] + " has " +
              std::to_string(votes[c]) + (votes[c] == 1 ? " vote" : " votes");
      won += votes[c] >= majority_of_five ? 1 : 0;
    }
    servers.bad(text + ". A majority is 3");
    for (const char* name : client_names) withdraw_from_all(all, name);
    std::this_thread::sleep_for(100ms);
  }
  for (actor& c : clients)
    c.ends("gives up after " + std::to_string(naive_rounds) + " rounds", tone::bad);
  p.ends(won == 0, "all servers work, no client holds the lock, and no client gets it: each waits "
                   "for the same 100 ms, and the next round is as the one before.");
}

// A client of holdfast with a network of its own to each of the servers.
struct distant_client {
  distant_client(play& p, redlock_servers& all, std::size_t which)
      : number(which), lane(p.line, std::string("client ") + client_names[which]) {
    std::string url = "redlock://";
    for (std::size_t i = 0; i < all.size(); ++i) {
      const tcp_proxy& path = paths.emplace_back(all[i].port());
      url += std::string(i == 0 ? "" : ",") + "127.0.0.1:" + std::to_string(path.port());
    }
    own = client::open(url + "?node-timeout=7s&op-timeout=30s");
  }
  // Holds back the client's requests to the servers that are far away, or lets them arrive.
  void delay_far(bool is_delayed) {
    for (std::size_t i = 0; i < paths.size(); ++i)
      if (!is_near(number, i)) paths[i].set(direction::to_server, {.hold = is_delayed});
  }

  const std::size_t number;
  actor lane;
  std::deque<tcp_proxy> paths;
  client own;
};

// Each client gets the lock once, from all servers: they are connected, and all may vote.
void use_all_servers(redlock_servers& all, std::deque<distant_client>& clients) {
  for (distant_client& c : clients) {
    lease alone = c.own.mutex(lock_name).acquire();
    wait_until("all servers have the lock", [&] { return votes_given(all) == five_servers; });
    alone.release();
    wait_until("no server has the lock", [&] { return votes_given(all) == 0; });
  }
}

void split_votes_holdfast(play& p) {
  redlock_servers all(five_servers);
  std::deque<distant_client> clients;
  for (std::size_t i = 0; i < three_clients; ++i) clients.emplace_back(p, all, i);
  actor servers(p.line, "servers");
  use_all_servers(all, clients);
  for (distant_client& c : clients) c.delay_far(true);
  std::atomic<std::size_t> served{0}, lost{0};
  std::vector<std::jthread> waiting;
  for (distant_client& c : clients) {
    c.lane.waits("acquire(): SET at all servers; the far ones are slow");
    waiting.emplace_back([&c, &served, &lost](const std::stop_token& stop) {
      std::error_code ended;
      lease held = c.own.mutex(lock_name).acquire({}, stop, ended);
      if (!held) return;
      c.lane.holds("granted by a majority");
      std::this_thread::sleep_for(100ms);
      if (!held.held()) ++lost;
      c.lane.ends("release()");
      held.release(ended);
      ++served;
    });
  }
  wait_until("all servers have voted", [&] { return votes_given(all) == five_servers; });
  servers.bad("A has 2 votes, B 2, C 1: no client has a majority");
  std::this_thread::sleep_for(100ms);
  for (distant_client& c : clients) c.delay_far(false);
  servers.note("the other requests arrive: busy. The clients withdraw their votes, and try again");
  wait_until("each client has had the lock", [&] { return served == three_clients; });
  p.ends(lost != 0,
         "after a contended attempt each client makes a random pause, sends its request to one "
         "server, the same for all clients, and to the others only with its vote. So one client "
         "gets all votes, and then the next one does.");
}

void two_down_naive(play& p) {
  redlock_servers all(five_servers);
  actor a(p.line, "client A"), b(p.line, "client B"), servers(p.line, "servers");
  for (const std::size_t i : {2u, 3u}) all[i].kill_hard();
  servers.note("servers 3 and 4 of five are down");
  int votes = 0;
  a.waits("SET lock A NX PX 500 at servers 1 and 2: OK. A sends one request after another");
  for (const std::size_t i : {0u, 1u}) votes += vote_for(all, i, "A", "500") ? 1 : 0;
  a.note("servers 3 and 4: A waits for the timeout of each connection, 400 ms");
  for (int i = 0; i < 2; ++i) std::this_thread::sleep_for(400ms);
  wait_until("A's locks at servers 1 and 2 expire",
             [&] { return naive_redis(all[0]).is_free() && naive_redis(all[1]).is_free(); });
  votes += vote_for(all, 4, "A", "30000") ? 1 : 0;
  a.believes("server 5: OK, the third vote. Those of servers 1 and 2 have expired meanwhile");
  std::this_thread::sleep_for(100ms);
  all[2].start();
  servers.note("server 3 is up again");
  int votes_of_b = 0;
  for (const std::size_t i : {0u, 1u, 2u}) votes_of_b += vote_for(all, i, "B", "30000") ? 1 : 0;
  b.also_holds("SET lock B NX PX at servers 1, 2 and 3: OK. A majority");
  std::this_thread::sleep_for(200ms);
  p.ends(votes == 3 && votes_of_b == 3,
         "A and B hold the lock at the same time. A counted three votes that never existed at the "
         "same moment.");
}

void two_down_holdfast(play& p) {
  redlock_servers all(five_servers);
  const std::string url = all.url() + "?op-timeout=30s&close-timeout=100ms";
  const client first = client::open(url), second = client::open(url);
  actor a(p.line, "client A"), b(p.line, "client B"), servers(p.line, "servers");
  for (const std::size_t i : {2u, 3u}) all[i].stop();
  servers.note("servers 3 and 4 of five do not reply (SIGSTOP)");
  lease own = first.mutex(lock_name).acquire();
  a.holds("acquire(): requests to all servers at once. Granted by 1, 2 and 5, without a wait for "
          "the others");
  std::this_thread::sleep_for(100ms);
  std::error_code why;
  const lease early = second.mutex(lock_name).try_acquire({}, why);
  b.good(early ? "try_acquire(): granted" : "try_acquire(): not granted");
  std::this_thread::sleep_for(100ms);
  for (const std::size_t i : {2u, 3u}) all[i].go_on();
  servers.note("servers 3 and 4 go on");
  std::this_thread::sleep_for(100ms);
  const lease late = second.mutex(lock_name).try_acquire({}, why);
  b.good(late ? "try_acquire(): granted" : "try_acquire(): not granted. A has a majority");
  const bool is_kept = own.held();
  a.ends("release()");
  own.release();
  const lease next = second.mutex(lock_name).try_acquire_for(20s);
  if (next) b.holds("acquire(): granted");
  std::this_thread::sleep_for(100ms);
  p.ends(early || late || !is_kept || !next,
         "three of five servers are enough. An attempt ends after a fraction of the ttl, and the "
         "lease counts from before its first request, so that votes which come too late do not "
         "count.");
}

}  // namespace

std::vector<story> redlock_vote_stories() {
  return {
      {"redlock-split-votes",
       "Redlock, and split votes",
       "Three clients try to get the same lock at the same moment. Each of five servers votes for "
       "the client that is nearest, and no client gets three votes.",
       "Clients that try again after the same time divide the votes again. The Redis documentation "
       "requires a random delay. As soon as a lock is contended, holdfast's clients also send "
       "their request to one server first, the same one for all clients.",
       server::redis,
       {{"Redlock by hand, a fixed delay before a retry", verdict::breaks, split_votes_naive},
        {"holdfast", verdict::stands, split_votes_holdfast}}},
      {"redlock-two-down",
       "Redlock, and two servers of five are down",
       "Two of five servers do not reply. The three others can still grant the lock.",
       "The time for which an attempt waits for a server has to be much shorter than the lease, "
       "and the time of the whole attempt has to be subtracted from it. holdfast does both.",
       server::redis,
       {{"Redlock by hand, one server after another", verdict::breaks, two_down_naive},
        {"holdfast", verdict::stands, two_down_holdfast}}},
  };
}

}  // namespace holdfast::lab
