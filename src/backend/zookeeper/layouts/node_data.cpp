#include "backend/zookeeper/layouts/node_data.hpp"

#include <charconv>

namespace holdfast::zookeeper {

std::string text_of(const node_owner& o) {
  std::string out = o.host.empty() ? "-" : o.host;
  out += ' ';
  out += std::to_string(o.pid);
  if (!o.note.empty()) out.append(" ").append(o.note);
  return out;
}

node_owner read_node_owner(std::string_view data) {
  node_owner out;
  const std::size_t host_end = data.find(' ');
  const std::string_view host = data.substr(0, host_end);
  if (host_end == std::string_view::npos) {
    if (data != revocation_data) out.host = data;
    return out;
  }
  std::string_view remaining = data.substr(host_end + 1);
  const auto [end, fault] =
      std::from_chars(remaining.data(), remaining.data() + remaining.size(), out.pid);
  if (fault != std::errc() || (end != remaining.data() + remaining.size() && *end != ' ')) {
    out.pid = 0;
    out.note = data;
    return out;
  }
  if (host != "-") out.host = host;
  remaining.remove_prefix(static_cast<std::size_t>(end - remaining.data()));
  if (!remaining.empty()) out.note = remaining.substr(1);
  return out;
}

}  // namespace holdfast::zookeeper
