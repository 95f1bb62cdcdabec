// The upper limit of locks whose waiters watch nodes: each deletion is the event on which the next
// session deletes its node. All nodes and watches exist before the first deletion.
#pragma once

namespace bench {

// Deletions per second, by that number of sessions in turn, each with a thread of its own.
double bare_chain(int port, unsigned sessions);

}  // namespace bench
