// A cluster in the hands of a test: what its nodes say of each other.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "backend/redis/topologies/cluster/slot_map.hpp"

namespace holdfast::redis {

// A master at the address id:6379.
inline cluster_node a_master(const std::string& id, std::uint64_t epoch,
                             std::vector<std::pair<slot_number, slot_number>> slots) {
  cluster_node out;
  out.id = id;
  out.at = {id, 6379, {}};
  out.is_master = true;
  out.epoch = epoch;
  out.slots = std::move(slots);
  return out;
}

inline cluster_node a_replica(const std::string& id, const std::string& master) {
  cluster_node out;
  out.id = id;
  out.at = {id, 6379, {}};
  out.master = master;
  return out;
}

inline std::string master_of(const slot_map& map, slot_number slot) {
  const std::optional<std::size_t> shard = map.shard_of(slot);
  return shard ? map.shards()[*shard].master : "nobody";
}

}  // namespace holdfast::redis
