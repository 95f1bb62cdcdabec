// Shared by the fault tests of Redis Cluster.
#pragma once
#include <future>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sentinel_fixture.hpp"
#include "testkit/servers/cluster_servers.hpp"

namespace holdfast::redis_test {

using testkit::cluster_options;
using testkit::cluster_servers;

// The layouts of which a cluster has locks. Layout lua has mutexes only.
inline constexpr const char* layouts_of_a_cluster[] = {"string", "redisson", "lua"};

// Quick to start, for tests without failovers.
inline const cluster_options masters_only{.replicas = 0};

inline std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

class on_cluster : public on_redis {
 protected:
  // A master is replaced 2 to 5 s after it is killed: an attempt that is made meanwhile is granted
  // within the op-timeout.
  static client open(const cluster_servers& c, const std::string& more = "ttl=10m") {
    return client::open(c.url() + "?op-timeout=20s&retry-base=2ms&" + more);
  }
  static std::size_t master_of(cluster_servers& c, const std::string& name) {
    return c.master_of_slot(c.slot_of(name));
  }
  // A name whose slot this master has.
  static std::string name_at(cluster_servers& c, std::size_t master) {
    for (int i = 0; i < 1000; ++i) {
      const std::string name = "lock" + std::to_string(i);
      if (master_of(c, name) == master) return name;
    }
    throw std::runtime_error("no name of a thousand has a slot of server " +
                             std::to_string(master));
  }
  // A name at each of the first masters.
  static std::vector<std::string> names_at_each(cluster_servers& c, std::size_t masters = 3) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < masters; ++i) names.push_back(name_at(c, i));
    return names;
  }
  static std::vector<std::string> keys_at(redis_server& s) {
    std::vector<std::string> keys;
    for (const auto& key : s.command({"KEYS", "*"}).items) keys.push_back(key.text);
    return keys;
  }
  // Copies first what the master has written, so that nothing is lost. Returns the new master.
  static std::size_t kill_master(cluster_servers& c, std::size_t master) {
    c.wait_until_copied(master);
    c.server(master).kill_hard();
    return c.wait_until_failed_over(master);
  }
};

// A wait for the lock that begins now and ends too early for a waiter's own check after 30 s.
inline std::future<lease> next_lease(const client& c, const std::string& name = "x") {
  return std::async(std::launch::async, [m = c.mutex(name)] {
    std::error_code ec;
    lease held = m.try_acquire_for(in_bounds, {}, {}, ec);
    EXPECT_TRUE(held) << m.name() << ": " << (ec ? ec.message() : "busy");
    return held;
  });
}

// That the lock is granted to no client at present. The reason is of no importance: it is busy, or
// its slot has no server yet.
inline void expect_not_granted(const client& c, const std::string& name = "x") {
  std::error_code ec;
  EXPECT_FALSE(c.mutex(name).try_acquire_for(std::chrono::milliseconds{1}, {}, {}, ec)) << name;
}

inline void expect_held(const lease& held) {
  EXPECT_TRUE(held.held()) << held.name() << ": " << held.status().message();
}

}  // namespace holdfast::redis_test
