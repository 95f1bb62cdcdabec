// The data of the node: "GUID HOST PID NOTE". The GUID shows which claim made it; other programs
// may write anything.
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/node_data.hpp"
#include "backend/zookeeper/transport/replies.hpp"
#include "base/uuid.hpp"

namespace holdfast::zookeeper::single_node {

std::string text_of(const base::uuid&, std::string_view owner_text);
// Whether this attempt of this session made the node.
bool is_ours(const zookeeper::node_data&, const base::uuid&, std::int64_t session) noexcept;

struct content {
  std::string owner;  // the GUID; else the session that made the node, as 0x and 16 digits
  node_owner who;
};
content read(const zookeeper::node_data&);

}  // namespace holdfast::zookeeper::single_node
