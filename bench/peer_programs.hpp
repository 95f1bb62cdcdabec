// Locks of other libraries, each in a program of its own language with the library's published
// package. The programs are in bench/peers. Packages are fetched into writable_folder() when they
// are needed first. A peer throws peer_missing when its language or its package is not available.
#pragma once
#include <string>

#include "row.hpp"

namespace bench {

enum class workload : unsigned char {
  own_lock,   // one worker and its lock
  own_locks,  // 64 workers of one process, a lock each
  one_lock,   // 4 processes of 4 workers on one lock
};

// Their figures are cycles per second of all workers. `ports`: "7001,7002,7003", the masters of a
// Redlock, or one server.
peer python_lock(const std::string& library, const std::string& port, workload);  // redis-py, kazoo
peer node_lock(const std::string& library, const std::string& ports, workload);
peer go_lock(const std::string& library, const std::string& ports, workload);  // redsync
// Starts a server of etcd for the run.
peer etcd_mutex(workload);

// Throws peer_missing when the locks for node cannot be run here.
void need_node_locks();

}  // namespace bench
