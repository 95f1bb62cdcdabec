#include "testkit/servers/cluster_view.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace holdfast::testkit {
namespace {

bool has_flag(const std::string& flags, const std::string& flag) {
  return (',' + flags + ',').find(',' + flag + ',') != std::string::npos;
}

// A line is "ID ADDRESS FLAGS MASTER PING PONG EPOCH LINK SLOTS...". A slot that is being moved
// follows in brackets, and is not owned because of that.
cluster_node node_of(const std::string& line) {
  cluster_node node;
  std::istringstream words(line);
  std::string address, flags, ping, pong, link;
  words >> node.id >> address >> flags >> node.master >> ping >> pong >> node.config_epoch >> link;
  if (node.master == "-") node.master.clear();
  node.is_self = has_flag(flags, "myself");
  node.is_master = has_flag(flags, "master");
  node.is_reachable = link == "connected";
  for (const char* fault : {"fail", "fail?", "handshake", "noaddr"})
    if (has_flag(flags, fault)) node.is_reachable = false;
  for (std::string range; words >> range;) {
    if (range.front() == '[') continue;
    const std::size_t dash = range.find('-');
    const int first = std::stoi(range);
    node.slots.emplace_back(first, dash == range.npos ? first : std::stoi(range.substr(dash + 1)));
  }
  return node;
}

}  // namespace

bool cluster_node::owns(int slot) const {
  return std::ranges::any_of(slots, [&](const auto& range) {
    return range.first <= slot && slot <= range.second;
  });
}

cluster_view::cluster_view(const std::string& reply) {
  std::istringstream lines(reply);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) nodes_.push_back(node_of(line));
}

const cluster_node& cluster_view::self() const {
  const auto found = std::ranges::find_if(nodes_, &cluster_node::is_self);
  if (found == nodes_.end())
    throw std::runtime_error("a reply to CLUSTER NODES without its sender");
  return *found;
}

const cluster_node* cluster_view::find(const std::string& id) const {
  const auto found = std::ranges::find(nodes_, id, &cluster_node::id);
  return found == nodes_.end() ? nullptr : &*found;
}

const cluster_node* cluster_view::owner_of(int slot) const {
  const auto found =
      std::ranges::find_if(nodes_, [&](const auto& node) { return node.owns(slot); });
  return found == nodes_.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string, long long>> cluster_view::owners_with_epochs() const {
  std::vector<std::pair<std::string, long long>> all(cluster_slots);
  for (const cluster_node& node : nodes_)
    for (const auto& [first, last] : node.slots)
      std::fill(all.begin() + first, all.begin() + last + 1, std::pair(node.id, node.config_epoch));
  return all;
}

}  // namespace holdfast::testkit
