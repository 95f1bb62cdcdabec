// redlock/w1, w4 and w4-handoffs: locks of five independent masters.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>
#include <vector>

#include "handoff.hpp"
#include "pace.hpp"
#include "redis/bare_redlock.hpp"
#include "redis/fixture.hpp"
#include "redis/peers.hpp"
#include "row.hpp"
#include "testkit/servers/redlock_servers.hpp"

namespace bench {
namespace {

constexpr std::size_t master_count = 5;
constexpr unsigned process_count = 4, threads_of_process = 4;

using holdfast::testkit::redlock_servers;

// A master that has just been started votes only if it has a record of earlier locks and an
// append-only file. The file is not synced, so that the row does not measure the disk.
holdfast::testkit::redis_options able_to_vote() {
  need_redis_server();
  return {.config = {"appendonly yes", "appendfsync no"}};
}

struct five_masters {
  redlock_servers servers{master_count, redlock_servers::history::long_running, able_to_vote()};

  std::vector<int> ports() {
    std::vector<int> all;
    for (std::size_t i = 0; i < servers.size(); ++i) all.push_back(servers[i].port());
    return all;
  }
  std::string port_list() {
    std::string list;
    for (const int port : ports())
      list.append(list.empty() ? "" : ",").append(std::to_string(port));
    return list;
  }
};

contender_outcome contend(const std::string& kind, const std::string& where, seconds length) {
  return run_contender({kind, where, process_count, threads_of_process}, length);
}

outcome acquisitions_of(const contender_outcome& o) {
  return {o.cycles,
          {{"max/min per worker", o.unfairness}, {"hand-offs to another process/s", o.handoffs}}};
}

outcome handoffs_of(const contender_outcome& o) {
  return {o.handoffs, {{"max/min per worker", o.unfairness}, {"acquisitions/s", o.cycles}}};
}

constexpr const char* sequential = "sequential redlock";

}  // namespace

std::vector<contest> redlock_confirmed() {
  const auto masters = std::make_shared<five_masters>();
  const auto client = holdfast::client::open(masters->servers.url());
  const auto lock = std::make_shared<holdfast::mutex>(client.mutex("order"));
  return {
      {"",
       [masters](seconds length) { return bare_parallel_round_trips(masters->ports(), length); },
       [masters, lock](seconds length) {
         const auto once = [&] { lock->acquire().release(); };
         return outcome{1e9 / nanoseconds_per_cycle<redlock_cycles_of_batch>(length, once), {}};
       },
       redlock_peers(masters->port_list(), workload::own_lock)}};
}

std::vector<contest> redlock_processes() {
  const auto masters = std::make_shared<five_masters>();
  const auto ours = [masters](seconds length) {
    return acquisitions_of(contend("mutex", masters->servers.url(), length));
  };
  const auto one_after_the_other = [masters](seconds length) {
    return acquisitions_of(contend(sequential, masters->port_list(), length));
  };
  contest node{"redlock for node", {}, ours};
  try {
    node.limit = redlock_of_node(masters->port_list());
  } catch (const peer_missing& why) {
    node.skipped = why.what();
  }
  return {node,
          {"the shape of redis-plus-plus' RedLock",
           one_after_the_other,
           ours,
           {go_lock("redsync", masters->port_list(), workload::one_lock)}}};
}

std::vector<contest> redlock_handoffs() {
  const auto masters = std::make_shared<five_masters>();
  return {{"",
           [masters](seconds length) {
             return handoffs_of(contend(sequential, masters->port_list(), length));
           },
           [masters](seconds length) {
             return handoffs_of(contend("mutex", masters->servers.url() + "?turns=1", length));
           }}};
}

}  // namespace bench
