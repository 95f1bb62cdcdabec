// The ZooKeeper server of the stories.
#pragma once
#include <string>

#include "testkit/servers/zookeeper_server.hpp"

namespace holdfast::lab {

// One server for all stories of a process, as it takes a second to start. Each play has a lock of
// its own.
testkit::zookeeper_server& shared_zookeeper();
std::string fresh_name();

}  // namespace holdfast::lab
