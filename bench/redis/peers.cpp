#include "redis/peers.hpp"

namespace bench {

std::vector<peer> redis_peers(int port, workload w) {
  const std::string at = std::to_string(port);
  return {python_lock("redis-py", at, w), node_lock("redis-semaphore", at, w),
          node_lock("redlock", at, w), go_lock("redsync", at, w)};
}

std::vector<peer> redlock_peers(const std::string& ports, workload w) {
  return {node_lock("redlock", ports, w), go_lock("redsync", ports, w)};
}

side redlock_of_node(const std::string& ports) {
  need_node_locks();
  return [run = node_lock("redlock", ports, workload::one_lock).run](seconds length) {
    return outcome{run(length), {}};
  };
}

}  // namespace bench
