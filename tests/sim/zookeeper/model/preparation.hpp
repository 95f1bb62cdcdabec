// A request to write as the leader prepares it, before the servers agree on it.
#pragma once
#include <string>
#include <vector>

#include "tests/sim/zookeeper/model/tree.hpp"

namespace holdfast::sim::zk {

struct write_request {
  origin from;
  std::int64_t session = 0;
  op type{};
  std::string body;
  std::vector<identity> identities;
  std::int32_t timeout_ms = 0;  // of a new session
};

// Checks it against what is agreed on and what is under way, and adds it to that.
transaction prepare(tree& outstanding, const write_request&, std::int64_t zxid,
                    std::int64_t time_ms);

// Whether those may do it.
bool may(const std::vector<access>& acl, std::int32_t right, const std::vector<identity>&);

}  // namespace holdfast::sim::zk
