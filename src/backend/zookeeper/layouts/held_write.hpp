// A write of a node's data in one step with the check that the nodes by which a lock is held stand.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "backend/zookeeper/held_nodes.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

// The operations of the write.
std::string held_write_body(std::span<const std::string> lock_nodes, const held_write&);
// Answers later, or from inside the call. `lock_nodes`: complete paths, none of them ever that of
// another holder's node.
void start_held_write(const query_context&, const std::vector<std::string>& lock_nodes,
                      const held_write&, version_handler&);

}  // namespace holdfast::zookeeper
