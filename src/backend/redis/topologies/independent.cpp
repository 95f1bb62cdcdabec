#include "backend/redis/topologies/independent.hpp"

#include <algorithm>

namespace holdfast::redis {

using base::failure;

independent::independent(io::client_reactor& r, std::span<const endpoint> endpoints,
                         std::span<const script> all_scripts)
    : endpoints_(endpoints) {
  for (const endpoint& e : endpoints) {
    all_.push_back(std::make_unique<transport>(r, e, all_scripts));
    nodes_.push_back(all_.back().get());
  }
}

bool independent::is_open() const noexcept {
  const auto open = std::ranges::count_if(nodes_, [](const transport* t) { return t->is_open(); });
  return static_cast<std::size_t>(open) >= majority();
}

failure independent::why_not_open(bool is_overdue) const {
  failed_servers failed;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->is_open()) continue;
    failure f = nodes_[i]->why_not_open(is_overdue);
    if (f.code == errc::bad_url) return f;
    if (f.code) failed.add(base::text_of(endpoints_[i].where), f.text);
  }
  return no_quorum(failed);
}

failure independent::no_quorum(const failed_servers& failed) const {
  if (failed.size() <= nodes_.size() - majority()) return {};
  return {errc::no_quorum, std::to_string(failed.size()) + " of " + std::to_string(nodes_.size()) +
                               " servers cannot be used, and " + std::to_string(majority()) +
                               " are needed: " + failed.list()};
}

bool independent::is_unavailable() const noexcept {
  const auto out =
      std::ranges::count_if(nodes_, [](const transport* t) { return t->is_unavailable(); });
  return static_cast<std::size_t>(out) > nodes_.size() - majority();
}

seam::connection_status independent::status() const {
  seam::connection_status out;
  failed_servers failed;
  std::size_t connected = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const seam::connection_status one = nodes_[i]->read_status();
    const std::string address = base::text_of(endpoints_[i].where);
    connected += one.connected;
    out.reconnects += one.reconnects;
    if (!one.last_failure.empty()) out.last_failure = address + " " + one.last_failure;
    if (one.trouble.code) failed.add(address, one.trouble.text);
  }
  out.connected = connected >= majority();
  out.trouble = no_quorum(failed);
  return out;
}

}  // namespace holdfast::redis
