// Other libraries' locks on the same ZooKeeper server, and etcd's on its own.
#pragma once
#include <vector>

#include "peer_programs.hpp"

namespace bench {

std::vector<peer> zookeeper_peers(int port, workload);

}  // namespace bench
