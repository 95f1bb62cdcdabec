#include "backend/redis/layouts/layout.hpp"

#include <algorithm>

namespace holdfast::redis {

void layout::attach(topology& t) {
  topology_ = &t;
  mutex_ = &t.nodes().front()->reactor().mutex();
  for (transport* over : t.nodes()) add_node(*over);
}

void layout::add_node(transport& over) {
  nodes_.push_back(make_node(over));
  over.serve(*nodes_.back());
}

void layout::detach() noexcept {
  for (const auto& n : nodes_) n->detach();
}

void layout::retry_now(time_point now) {
  for (const auto& n : nodes_) n->retry_now(now);
}

void layout::withdraw_all(time_point now) {
  for (const auto& n : nodes_) n->withdraw_all(now);
}

bool layout::is_settled() const noexcept {
  return std::ranges::all_of(nodes_, [](const auto& n) { return n->is_settled(); });
}

lock_server layout::server_of(std::string_view key) const noexcept {
  const std::lock_guard guard(*mutex_);
  return {topology_->node_of(key), of_others()};
}

topology* layout::of_others() const noexcept {
  return topology_->has_moving_keys() ? topology_ : nullptr;
}

std::vector<lock_server> layout::all_servers() const {
  const std::lock_guard guard(*mutex_);
  std::vector<lock_server> out;
  for (transport* over : topology_->with_keys()) out.push_back({*over, of_others()});
  return out;
}

layout_node& layout::node_of(std::string_view key) const noexcept {
  const transport& over = topology_->node_of(key);
  return **std::ranges::find(nodes_, &over, [](const auto& n) { return &n->over(); });
}

}  // namespace holdfast::redis
