// diagnose(): reads what a server tells of itself, measures it, and tries the rights of its user.
//
//   question     | sent                                        | why so
//   -------------+---------------------------------------------+-----------------------------------
//   facts        | INFO, CONFIG GET, GET of the counter, EXEC  | an error is a fact; EXEC without
//                |                                             | MULTI does nothing
//   transaction  | MULTI, GET without a key, EXEC              | the fault makes EXEC discard all;
//                |                                             | not sent where EXEC is denied
//   rights       | MULTI, GET without a key, a call of each    | the ACL is asked when a command is
//                | command, EXEC                               | queued, and nothing is executed
//   pings, times | PING and TIME, each after the last answer   | a round trip stands for itself
//   keys         | SCAN, a bounded number of times             | names with keys of two layouts
#pragma once
#include <span>
#include <string>
#include <vector>

#include "backend/redis/layouts/required_command.hpp"
#include "backend/redis/transport/endpoint.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

class transport;

// Without the reactor's mutex. Answered at once when there is no connection. The endpoint outlives
// the answer. The findings of the topology come first.
void start_diagnosis(transport&, const endpoint&, std::span<const layout_needs>, bool is_in_cluster,
                     seam::findings_handler&, std::vector<finding> of_topology = {});

// Like start_diagnosis() of one server. A finding that all servers share is reported once; every
// other finding names its server. A server that cannot be examined is a bad finding of its own. The
// endpoint has the user and the times of all.
void start_diagnosis(std::span<transport* const>, const std::vector<std::string>& names,
                     const endpoint&, std::span<const layout_needs>, bool are_in_cluster,
                     seam::findings_handler&);

}  // namespace holdfast::redis
