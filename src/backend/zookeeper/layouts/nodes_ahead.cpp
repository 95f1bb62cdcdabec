#include "backend/zookeeper/layouts/nodes_ahead.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::zookeeper {

using base::mutant;
using base::planted;

void nodes_ahead::show(const nearest_names& names, bool are_all) {
  std::vector<node> before = std::exchange(nodes_, {});
  for (const std::string_view name : names) {
    if (name.empty()) break;
    const auto known = std::ranges::find(before, name, &node::name);
    nodes_.push_back(known == before.end() ? node{std::string(name)} : std::move(*known));
  }
  are_all_ = are_all;
  is_outdated_ = false;
}

bool nodes_ahead::are_watched() const noexcept {
  return std::ranges::all_of(nodes_, [](const node& n) { return n.czxid != 0; });
}

void nodes_ahead::on_watched(unsigned answer, std::int64_t czxid) {
  for (node& n : nodes_)
    if (n.is_awaited(answer)) n.czxid = czxid;
}

void nodes_ahead::on_missing(unsigned answer) {
  const auto is_it = [&](const node& n) { return n.is_awaited(answer); };
  if (const auto at = std::ranges::find_if(nodes_, is_it); at != nodes_.end()) end(at);
}

bool nodes_ahead::on_event(std::string_view name, bool was_deleted, std::int64_t own_czxid) {
  const auto at = std::ranges::find(nodes_, name, &node::name);
  if (at == nodes_.end()) return false;
  const bool is_gone = was_deleted || planted(mutant::change_taken_for_the_end);
  const bool is_older = at->czxid < own_czxid || planted(mutant::younger_blocker_believed);
  if (is_gone && is_older && at->czxid != 0) {
    end(at);
    return true;
  }
  at->czxid = 0;
  at->asked_at = not_asked;
  is_outdated_ = true;
  return true;
}

void nodes_ahead::end(std::vector<node>::iterator at) {
  const bool is_nearest = at == nodes_.begin(), is_farthest = std::next(at) == nodes_.end();
  const bool is_alone = !is_nearest || !planted(mutant::predecessor_that_gave_up);
  nodes_.erase(at, is_alone ? std::next(at) : nodes_.end());
  if (is_farthest && !are_all_ && !planted(mutant::end_of_farthest_believed)) is_outdated_ = true;
}

what_is_ahead nodes_ahead::now() const noexcept {
  if (is_outdated_) return what_is_ahead::unknown;
  return nodes_.empty() ? what_is_ahead::nothing : what_is_ahead::watched;
}

}  // namespace holdfast::zookeeper
