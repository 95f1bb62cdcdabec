// What a lock at one ZooKeeper server cannot do better than: the node of a lock is created and its
// parent looked at in one write, then the node is deleted, driven as cheaply as can be.
#pragma once
#include "row.hpp"

namespace bench {

// One session, one step at a time.
outcome bare_cycles(int port, seconds length);
// One session and one thread, which keeps that number of cycles in flight. Each has a parent of its
// own.
outcome bare_cycles_in_flight(int port, unsigned in_flight, seconds length);

}  // namespace bench
