// Takes a lock away from one of its holders: asks for it as Curator's Revoker does, waits for the
// end of the holder's node, and removes that node when the time is over.
//
//   sent                 | answer            | next
//   ---------------------+-------------------+--------------------------------------------------
//   list of the nodes    | it holds the lock | the request is written, and the node is watched;
//                        |                   | without a wait: it is removed
//                        | else              | no
//   __REVOKE__ as data,  | it is gone        | yes
//   a watch on the node  | no right to write | it is removed
//                        | the node ends     | yes
//                        | time is over      | it is removed
//   the removal          | done, or gone     | yes
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/node_query.hpp"
#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper {

// `revocation`: how long the holder has to leave by itself; zero: it is not asked. The codec
// outlives the answer.
void start_breaking(const query_context&, const sequential_codec&, std::string lock_path,
                    std::string_view seen, core::duration revocation, core::decision_handler&);

}  // namespace holdfast::zookeeper
