// A write of a node's data in one step with the check that a lock's node stands.
#pragma once
#include <string>

#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

// The operations of the write.
std::string held_write_body(const std::string& lock_node, const core::held_write&);
// Answers later, or from inside the call. `lock_node`: complete, and never the name of another
// holder's node.
void start_held_write(const query_context&, const std::string& lock_node, const core::held_write&,
                      core::held_write_handler&);

}  // namespace holdfast::zookeeper
