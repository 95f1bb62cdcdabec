// What a server sent, as text in which all that may differ between two servers is left out.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "tests/sim/zookeeper/model/operation.hpp"

namespace holdfast::sim::zk {

using session_names = std::map<std::int64_t, std::string>;  // by id

// `type`: of the request that is answered. Times are left out, children are sorted, and sessions
// have their names.
std::string shown_reply(std::span<const std::byte> frame, op type, const session_names&);
bool is_event(std::span<const std::byte> frame);
std::int32_t xid_of(std::span<const std::byte> frame);

}  // namespace holdfast::sim::zk
