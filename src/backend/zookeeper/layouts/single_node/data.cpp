#include "backend/zookeeper/layouts/single_node/data.hpp"

#include <algorithm>
#include <cstdio>

namespace holdfast::zookeeper::single_node {

namespace {

// Reads a node that holdfast created.
bool begins_with_id(std::string_view data) noexcept {
  return base::begins_with_uuid(data) &&
         (data.size() == base::uuid_length || data[base::uuid_length] == ' ');
}

}  // namespace

std::string text_of(const base::uuid& g, std::string_view owner_text) {
  return base::text_of(g).append(" ").append(owner_text);
}

bool is_ours(const zookeeper::node_data& n, const base::uuid& g, std::int64_t session) noexcept {
  return n.stat.ephemeral_owner == session && n.data.starts_with(base::text_of(g) + ' ');
}

content read(const zookeeper::node_data& n) {
  content out;
  if (begins_with_id(n.data)) {
    out.owner = n.data.substr(0, base::uuid_length);
    out.who = read_node_owner(n.data.substr(std::min(n.data.size(), base::uuid_length + 1)));
    return out;
  }
  char text[24];
  std::snprintf(text, sizeof text, "0x%016llx",
                static_cast<unsigned long long>(n.stat.ephemeral_owner));
  out.owner = text;
  out.who = read_node_owner(n.data);
  return out;
}

}  // namespace holdfast::zookeeper::single_node
