// Which master of a cluster has a slot.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include <utility>

#include "tests/unit/backend/redis/layouts/two_nodes.hpp"
#include "tests/unit/backend/redis/topologies/some_nodes.hpp"
#include "tests/unit/backend/redis/transport/two_transports.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using redis::a_master;

// A node that was cut off still tells of the master before.
std::string a_slot_does_not_go_back() {
  redis::slot_map map;
  map.learn({a_master("former", 1, {{0, 9}})});
  map.learn({a_master("present", 2, {{0, 9}})});
  map.learn({a_master("former", 1, {{0, 9}})});
  return redis::master_of(map, 5) == "present" ? "" : "a master that was replaced has a slot again";
}

// The slot moves, without the lock, before the former master's answer to a renewal arrives.
std::string the_present_master_renews() {
  redis::two_nodes servers(true);
  servers.pass();
  redis::recorded_claim& c = servers.held("moving-job");
  servers.move_keys_before("*2\r\n:");
  c.renew(7);
  servers.pass();
  return c.log == "granted doubtful lost " ? "" : "a master that was replaced renews: " + c.log;
}

// The downgrade of a lease is answered with ASK. Its holder releases it, and holds the lock again
// before the pause ends after which the downgrade would be repeated.
std::string a_later_lease_is_not_downgraded() {
  constexpr auto soon = std::chrono::milliseconds{1};
  bool is_answered = false;
  redis::two_nodes servers(true);
  servers.pass();
  redis::recorded_claim& c = servers.held("moving-job");
  servers.world.changed = [&](std::string bytes) {
    return std::exchange(is_answered, true) ? bytes : "-ASK 3999 second:6379\r\n";
  };
  c.downgrade();
  servers.pass(soon);
  c.release();
  servers.pass(soon);
  c.acquire();
  servers.pass(soon);
  if (c.log != "granted ended granted ") return "the lock is not granted again: " + c.log;
  servers.pass();
  redis::recorded_claim& reader = servers.claim_on("moving-job");
  reader.acquire(lock_mode::shared);
  servers.pass();
  return reader.log.empty() ? "" : "a reader joins an exclusive holder: " + reader.log;
}

// A node of Redis 7.0 or later: the second connection to it is that for messages.
class node_with_sharded_channels final : public redis::two_transports {
 public:
  node_with_sharded_channels() {
    open(one, redis::lane::messages);
    greet(0);
    greet_as_redis_7(1);
  }
  // What the client sends to subscribe to this channel of a lock.
  std::string request_for(std::string_view channel) {
    std::unique_ptr<redis::subscription> subscribed;
    {
      const std::lock_guard guard(reactor.mutex());
      subscribed = one.subscribe(channel, handler_, net.now(), redis::channel_kind::sharded);
    }
    std::string request = net.received(1);
    const std::lock_guard guard(reactor.mutex());
    subscribed.reset();
    return request;
  }

 private:
  void TestBody() override {}
  redis::early_or_late handler_;
};

// Releases publish to that channel alone. On real servers the fault test
// redis_cluster.locks_of_redisson_have_the_channels_of_their_shard shows the same.
std::string a_waiter_listens_to_the_channel_of_its_shard() {
  node_with_sharded_channels node;
  return node.request_for("{x}") == "SSUBSCRIBE {x}" ? "" : "a release does not wake the waiter";
}

constexpr scenario of_clusters[] = {
    {mutant::given_up_request_repeated, "redis", a_later_lease_is_not_downgraded},
    {mutant::former_server_believed, "redis", the_present_master_renews},
    {mutant::older_slot_map_believed, "redis", a_slot_does_not_go_back},
    {mutant::plain_channel_in_cluster, "redis", a_waiter_listens_to_the_channel_of_its_shard},
};

}  // namespace

std::span<const scenario> cluster_scenarios() { return of_clusters; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> cluster_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
