// sentinel/failover and cluster/failover: how long nothing is granted after a promoted replica
// accepts writes.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "redis/fixture.hpp"
#include "row.hpp"
#include "testkit/servers/cluster_servers.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using holdfast::testkit::cluster_servers;
using holdfast::testkit::redis_server;
using holdfast::testkit::sentinel_servers;
using std::chrono::steady_clock;

bool is_master(redis_server& s) {
  try {
    const auto role = s.command({"ROLE"});
    return !role.items.empty() && role.items.front().text == "master";
  } catch (const holdfast::testkit::redis_silent&) {
    return false;  // Sentinel closes the connections of a server that it promotes
  }
}

constexpr const char* busy_name = "order";

// Acquires and releases one lock without a pause.
class busy_client {
 public:
  explicit busy_client(const std::string& url)
      : lock_(holdfast::client::open(url).mutex(busy_name)),
        thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            lock_.acquire().release();
            granted_at_ = steady_clock::now();
          }
        }) {}
  steady_clock::time_point wait_for_grant_after(steady_clock::time_point t) const {
    while (granted_at_.load() <= t) std::this_thread::sleep_for(1ms);
    return granted_at_;
  }

 private:
  holdfast::mutex lock_;
  std::atomic<steady_clock::time_point> granted_at_{steady_clock::time_point{}};
  std::jthread thread_;
};

outcome one_failover(const std::string& url, redis_server& master,
                     const std::vector<redis_server*>& replicas) {
  const busy_client busy(url + "?op-timeout=30s");
  busy.wait_for_grant_after(steady_clock::now());
  const auto killed = steady_clock::now();
  master.kill_hard();
  const auto is_promoted = [](redis_server* s) { return is_master(*s); };
  while (!std::ranges::any_of(replicas, is_promoted)) std::this_thread::sleep_for(500us);
  const auto promoted = steady_clock::now();
  const auto served = busy.wait_for_grant_after(promoted);
  return {seconds(served - promoted).count(),
          {{"seconds until the promotion", seconds(promoted - killed).count()}}};
}

outcome failover_of_sentinel(seconds) {
  sentinel_servers s({.down_after = 500ms});
  return one_failover(s.url(), s.master(), {&s.server(1), &s.server(2)});
}

outcome failover_of_cluster(seconds) {
  cluster_servers c({.node_timeout = 500ms});
  const std::size_t master = c.master_of_slot(c.slot_of(busy_name));
  return one_failover(c.url(), c.server(master), {&c.server(c.replica_of(master))});
}

}  // namespace

std::vector<contest> sentinel_failover() {
  need_redis_server();
  return {{"", {}, failover_of_sentinel}};
}

std::vector<contest> cluster_failover() {
  need_redis_server();
  return {{"", {}, failover_of_cluster}};
}

}  // namespace bench
