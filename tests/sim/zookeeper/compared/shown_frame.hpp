// A frame from a server as text, without the parts that may differ between two servers.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/sim/zookeeper/model/operation.hpp"

namespace holdfast::sim::zk {

// The numbers that two servers draw differently.
struct server_names {
  std::map<std::int64_t, std::string> sessions;  // by id
  std::vector<std::int64_t> epochs;              // in the order in which they were seen
};

// `type`: of the request that is answered. Times are left out, children are sorted, sessions have
// their names, and epochs their places.
std::string shown_reply(std::span<const std::byte> frame, op type, server_names&);
bool is_event(std::span<const std::byte> frame);
std::int32_t xid_of(std::span<const std::byte> frame);

}  // namespace holdfast::sim::zk
