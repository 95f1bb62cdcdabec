// Faults of a Redis Cluster that leave slots without a master, or nodes without the others.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "contention/fault.hpp"
#include "testkit/servers/cluster_servers.hpp"

namespace holdfast::torture {

using namespace contention;

// A master does not know the owner of a slot, or a shard is down: nodes answer CLUSTERDOWN. A
// master is cut off from the other nodes, which replace it. Only of servers that can be cut off.
std::vector<fault> cluster_outages(testkit::cluster_servers&,
                                   const std::function<std::size_t(dice&)>& a_master);

}  // namespace holdfast::torture
