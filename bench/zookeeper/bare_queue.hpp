// The upper limit of a lock whose waiters queue with their own nodes: one transaction for each
// turn, which deletes the own node and creates the next, and one watch for each session, which
// shows the whole queue. Nothing is listed and nothing is confirmed.
#pragma once

#include "row.hpp"

namespace bench {

// Turns per second, by that number of sessions, each with a thread of its own.
double bare_queue(int port, unsigned sessions, seconds length);

}  // namespace bench
