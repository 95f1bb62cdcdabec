// What one node of a cluster says of all of them: CLUSTER NODES.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/redis/slots.hpp"
#include "base/network.hpp"

namespace holdfast::redis {

struct cluster_node {
  std::string id;
  base::address at;  // as it is announced; no host: not known to the node that says this
  bool is_master = false;
  bool has_failed = false;  // so the others agree
  std::string master;       // of a replica: its id
  std::uint64_t epoch = 0;  // of its slots: of two nodes that claim a slot the higher one has it
  std::vector<std::pair<slot_number, slot_number>> slots;  // from, to
};

// Nothing when it is no such text. `asked`: how the node that says this was reached.
std::optional<std::vector<cluster_node>> read_cluster_nodes(std::string_view text,
                                                            const base::address& asked);

}  // namespace holdfast::redis
