// Which master of a cluster has a slot.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "tests/unit/backend/redis/layouts/string/two_nodes.hpp"
#include "tests/unit/backend/redis/topologies/some_nodes.hpp"

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

constexpr scenario of_clusters[] = {
    {mutant::former_server_believed, "redis", the_present_master_renews},
    {mutant::older_slot_map_believed, "redis", a_slot_does_not_go_back},
};

}  // namespace

std::span<const scenario> cluster_scenarios() { return of_clusters; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {

std::span<const scenario> cluster_scenarios() { return {}; }

}  // namespace holdfast::mutants
#endif
