// Faults of the network between workers and servers.
#pragma once
#include <chrono>
#include <deque>
#include <vector>

#include "contention/fault.hpp"
#include "contention/spoilt_replies.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::contention {

// Each strikes one link, or all of them. `excuse` as of fault.
std::vector<fault> link_faults(std::deque<testkit::tcp_proxy>&, wire_protocol,
                               std::chrono::milliseconds excuse);

// The last one: a connection of which bytes were swallowed stays silent for good, and its server
// would keep it after its client has ended.
fault end_of_links(std::deque<testkit::tcp_proxy>&, std::chrono::milliseconds excuse);

}  // namespace holdfast::contention
