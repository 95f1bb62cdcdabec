// Takes a lock away from one of its holders: asks for it as Curator's Revoker does, waits for the
// end of the holder's first node, and removes its nodes when the time is over.
//
//   sent                 | answer            | next
//   ---------------------+-------------------+--------------------------------------------------
//   sync, list of nodes  | it holds the lock | the request is written, and the node is watched;
//                        |                   | without a wait: its nodes are removed
//                        | else              | no
//   __REVOKE__ as data,  | it is gone        | yes
//   a watch on the node  | no right to write | its nodes are removed
//                        | the node ends     | yes
//                        | time is over      | its nodes are removed
//   the nodes removed    | done, or gone     | yes
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

// The holder's nodes among those listed; empty if it no longer holds the lock.
using find_nodes = std::function<std::vector<std::string>(std::span<const std::string_view> all)>;

// `parent`: of the nodes. `revocation`: how long the holder has to leave by itself; zero: it is not
// asked.
void start_breaking(const query_context&, std::string parent, find_nodes, base::duration revocation,
                    seam::decision_handler&);

}  // namespace holdfast::zookeeper
