// Other libraries' locks on the same Redis servers.
#pragma once
#include <string>
#include <vector>

#include "peer_programs.hpp"

namespace bench {

std::vector<peer> redis_peers(int port, workload);
std::vector<peer> redlock_peers(const std::string& ports, workload);

// The limit of a contest on several masters: redlock for node, workload::one_lock. `ports`:
// "7001,7002,7003". Throws peer_missing when it is not available here.
side redlock_of_node(const std::string& ports);

}  // namespace bench
