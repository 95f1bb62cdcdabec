// The text that a client writes into its node for operators: "HOST PID NOTE". Other libraries write
// their host's address, or anything else.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::zookeeper {

// Curator's Revoker writes this over it to request the lock.
inline constexpr std::string_view revocation_data = "__REVOKE__";

struct node_owner {
  std::string host;  // empty: unknown
  std::int64_t pid = 0;
  std::string note;
};
std::string text_of(const node_owner&);
node_owner read_node_owner(std::string_view data);

}  // namespace holdfast::zookeeper
