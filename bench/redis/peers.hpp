// Other people's locks on the same server: redis-py, and redis-semaphore and redlock for node.
#pragma once
#include <string>
#include <vector>

#include "row.hpp"

namespace bench {

enum class workload : unsigned char {
  own_lock,   // one worker and its lock
  own_locks,  // 64 workers of one process, a lock each
  one_lock,   // 4 processes of 4 workers on one lock
};

// Their figures are cycles per second of the whole. The node packages are installed by npm into the
// build folder when they are first wanted.
std::vector<peer> redis_peers(int port, workload);

// The limit of a contest on several masters: redlock for node, workload::one_lock. `ports`:
// "7001,7002,7003". Throws peer_missing when it is not installed here.
side redlock_of_node(const std::string& ports);

}  // namespace bench
