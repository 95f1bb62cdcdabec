// shards/w2 and cluster/w2: 64 threads with a lock each, over three servers, against bare
// connections to the same servers that have the same number of cycles in flight.
#include <holdfast/holdfast.hpp>

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "contenders.hpp"
#include "redis/bare_limits.hpp"
#include "redis/bare_threads.hpp"
#include "redis/coroutines.hpp"
#include "redis/fixture.hpp"
#include "row.hpp"
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/redis_shards.hpp"

namespace bench {
namespace {

using holdfast::testkit::cluster_servers;
using holdfast::testkit::redis_server;

constexpr unsigned locks_in_all = 64;
constexpr std::size_t three = 3;

std::string name_of(unsigned lock) { return "order/" + std::to_string(lock); }

struct keys_of_server {
  int port;
  std::vector<std::string> keys;
};

// A connection and a thread for each server.
outcome bare_pipelines(const std::vector<keys_of_server>& servers, seconds length) {
  std::vector<double> cycles(servers.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      threads.emplace_back([&servers, &cycles, length, i] {
        cycles[i] = bare_pipeline(servers[i].port, servers[i].keys, length).figure;
      });
    }
  }
  return {std::accumulate(cycles.begin(), cycles.end(), 0.0), {}};
}

// Threads that block, in place of the cycles in flight.
double bare_threads(const std::vector<keys_of_server>& servers, seconds length) {
  std::vector<std::unique_ptr<shared_connection>> connections;
  std::vector<std::unique_ptr<blocking_lock>> locks;
  for (const keys_of_server& s : servers) {
    bare_redis preparing(s.port);
    prepare(preparing, set_and_compare, s.keys);
    connections.push_back(std::make_unique<shared_connection>(s.port));
    for (const std::string& key : s.keys)
      locks.push_back(std::make_unique<blocking_lock>(*connections.back(), key));
  }
  const auto lock_of = [&locks](unsigned i) -> blocking_lock& { return *locks[i]; };
  return run_contenders_on(lock_of, static_cast<unsigned>(locks.size()), length).figure;
}

struct own_lock_each {
  holdfast::client client;
  std::vector<holdfast::mutex> locks;

  explicit own_lock_each(const std::string& url) : client(holdfast::client::open(url)) {
    for (unsigned i = 0; i < locks_in_all; ++i) locks.push_back(client.mutex(name_of(i)));
  }
  outcome run_threads(seconds length) {
    return run_contenders_on([this](unsigned i) -> holdfast::mutex& { return locks[i]; },
                             locks_in_all, length);
  }
};

struct three_shards {
  std::array<redis_server, three> servers;

  std::string url() const { return holdfast::testkit::shards_url(servers); }
  std::vector<keys_of_server> keys() {
    std::vector<keys_of_server> all;
    for (const redis_server& s : servers) all.push_back({s.port(), {}});
    for (unsigned i = 0; i < locks_in_all; ++i)
      all[i % three].keys.push_back("limit/" + name_of(i));
    return all;
  }
};

struct three_masters {
  cluster_servers servers{{.masters = three, .replicas = 0}};

  std::string url() const { return servers.url(); }
  // The tag puts a key into the slot of the lock.
  std::vector<keys_of_server> keys() {
    std::vector<keys_of_server> all;
    for (std::size_t i = 0; i < three; ++i) all.push_back({servers.server(i).port(), {}});
    for (unsigned i = 0; i < locks_in_all; ++i) {
      const std::size_t master = servers.master_of_slot(servers.slot_of(name_of(i)));
      all[master].keys.push_back("limit{" + name_of(i) + "}");
    }
    return all;
  }
};

template <class Servers>
struct own_locks_on {
  Servers servers;
  std::vector<keys_of_server> keys = servers.keys();
  own_lock_each own{servers.url()};
};

template <class Servers>
std::vector<contest> against_pipelines() {
  need_redis_server();
  const auto on = std::make_shared<own_locks_on<Servers>>();
  return {{"",
           [on](seconds length) { return bare_pipelines(on->keys, length); },
           [on](seconds length) { return on->own.run_threads(length); },
           {{"64 threads that block on the limit's connections",
             [on](seconds length) { return bare_threads(on->keys, length); }},
            {"64 coroutines of one thread, with holdfast's locks",
             [on](seconds length) { return run_coroutines(on->own.locks, length).figure; }}}}};
}

}  // namespace

std::vector<contest> shards_own_locks() { return against_pipelines<three_shards>(); }
std::vector<contest> cluster_own_locks() { return against_pipelines<three_masters>(); }

}  // namespace bench
