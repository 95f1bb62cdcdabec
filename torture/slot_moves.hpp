// Moves of a Redis Cluster's slots from one master to another, with all keys.
#pragma once
#include <functional>
#include <vector>

#include "contention/fault.hpp"
#include "testkit/servers/cluster_servers.hpp"

namespace holdfast::torture {

using namespace contention;

// At once, or left half-way for a while. No move is undone: between the return of the slot and that
// of its keys, the former master would grant the locks again.
std::vector<fault> slot_moves(testkit::cluster_servers&, const std::function<int(dice&)>& a_slot);

}  // namespace holdfast::torture
