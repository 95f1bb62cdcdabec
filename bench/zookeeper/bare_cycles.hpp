// The lower limit of a lock on one ZooKeeper server: one write creates the lock's node and reads
// its parent, then the node is deleted, as cheaply as possible.
#pragma once
#include "row.hpp"

namespace bench {

// One session, one step at a time.
outcome bare_cycles(int port, seconds length);
// One session and one thread, which keeps that number of cycles in flight. Each has a parent of its
// own.
outcome bare_cycles_in_flight(int port, unsigned in_flight, seconds length);

}  // namespace bench
