// Faults of ZooKeeper servers, and of the network between them. Each function blocks until the
// fault has ended.
#pragma once
#include "contention/dice.hpp"
#include "testkit/servers/small_disk.hpp"
#include "testkit/servers/zookeeper_ensemble.hpp"
#include "testkit/servers/zookeeper_server.hpp"

namespace holdfast::torture {

using namespace contention;

// No wall clock of a server matters.
void step_clock(testkit::zookeeper_server&, dice&);
// The disk on which the server keeps its data. The server is killed before there is room again.
void fill_disk(testkit::zookeeper_server&, const testkit::small_disk&, dice&);
// No client may create a node of one of the locks.
void deny_access(const testkit::zookeeper_server&, dice&);

// Between a server and the leader.
void freeze_link(testkit::zookeeper_ensemble&, int server, dice&);
void cut_link(testkit::zookeeper_ensemble&, int server, dice&);
// Between the leader and all other servers.
void isolate_leader(testkit::zookeeper_ensemble&, dice&);
void kill_the_quorum(testkit::zookeeper_ensemble&, dice&);

}  // namespace holdfast::torture
