#include "zookeeper/peers.hpp"

#include <string>

#include "zookeeper/real_curator.hpp"

namespace bench {
namespace {

peer curator_for(int port, workload w) {
  switch (w) {
    case workload::own_lock: return curator_peer_of(port, 1, 1, "/curator");
    case workload::own_locks: return curator_peer_of(port, 1, 64, "/curator-#");
    case workload::one_lock: break;
  }
  return curator_peer_of(port, 4, 4, "/curator");
}

}  // namespace

std::vector<peer> zookeeper_peers(int port, workload w) {
  return {curator_for(port, w), python_lock("kazoo", std::to_string(port), w), etcd_mutex(w)};
}

}  // namespace bench
