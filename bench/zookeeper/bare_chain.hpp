// What no lock whose waiters watch nodes can be faster than: each deletion is the event that has
// the next session delete its node. All nodes and all watches are there before the first.
#pragma once

namespace bench {

// Deletions per second, by that number of sessions in turn, each with a thread of its own.
double bare_chain(int port, unsigned sessions);

}  // namespace bench
