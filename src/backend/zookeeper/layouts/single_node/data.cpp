#include "backend/zookeeper/layouts/single_node/data.hpp"

#include <algorithm>
#include <cstdio>

namespace holdfast::zookeeper::single_node {

namespace {

constexpr std::size_t guid_length = 36;

bool begins_with_guid(std::string_view data) noexcept {
  if (data.size() < guid_length || (data.size() > guid_length && data[guid_length] != ' '))
    return false;
  for (std::size_t i = 0; i < guid_length; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    constexpr std::string_view digits = "0123456789abcdef";
    if (is_dash ? data[i] != '-' : digits.find(data[i]) == digits.npos) return false;
  }
  return true;
}

}  // namespace

std::string text_of(const guid& g, std::string_view owner_text) {
  return zookeeper::text_of(g).append(" ").append(owner_text);
}

bool is_ours(const zookeeper::node_data& n, const guid& g, std::int64_t session) noexcept {
  return n.stat.ephemeral_owner == session && n.data.starts_with(zookeeper::text_of(g) + ' ');
}

content read(const zookeeper::node_data& n) {
  content out;
  if (begins_with_guid(n.data)) {
    out.owner = n.data.substr(0, guid_length);
    out.who = read_node_owner(n.data.substr(std::min(n.data.size(), guid_length + 1)));
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
