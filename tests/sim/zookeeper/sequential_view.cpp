#include "tests/sim/zookeeper/sequential_view.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr std::size_t own_part = 32;  // of a name, no two attempts have the same

}  // namespace

sequential_view::sequential_view(zookeeper_store& s, const std::vector<std::string>& lock_names)
    : store_(s), names_(lock_names), lines_(lock_names.size()) {}

// Whose a node is shows in the request that creates it: no other client knows its name before.
void sequential_view::served(std::string_view client, std::string_view requests) {
  for (const std::string& lock : names_) {
    const std::string folder = '/' + lock + '/';
    for (std::size_t at = requests.find(folder); at != requests.npos;
         at = requests.find(folder, at + 1)) {
      const std::string_view own = requests.substr(at + folder.size(), own_part);
      if (own.size() == own_part && !clients_.contains(own)) clients_.emplace(own, client);
    }
  }
}

owner_is sequential_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  return client_in(owner).empty() ? owner_is::foreign : owner_is::claim;
}

std::string_view sequential_view::client_in(std::string_view id) const {
  const auto found = clients_.find(id.substr(0, own_part));
  return found == clients_.end() ? std::string_view() : found->second;
}

std::int64_t sequential_view::now_ms() const {
  return std::chrono::floor<std::chrono::milliseconds>(store_.now()).count();
}

double sequential_view::now_us() const { return static_cast<double>(now_ms()) * 1000; }

const std::vector<std::string>& sequential_view::line_of(int lock) const {
  if (const std::size_t count = store_.servers().agreed_count(); count != seen_) {
    seen_ = count;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      lines_[i].clear();
      const zk::node* const parent = store_.servers().agreed().find('/' + names_[i]);
      if (!parent) continue;
      lines_[i].assign(parent->children.begin(), parent->children.end());
      std::ranges::sort(lines_[i], {}, zk::sequence_of);
    }
  }
  return lines_[static_cast<std::size_t>(lock)];
}

// When a session ends is up to the servers.
std::optional<owner_seen> sequential_view::owner_at(int lock) const {
  constexpr std::int64_t long_enough_ms = 1'000'000;
  const auto& line = line_of(lock);
  if (line.empty()) return std::nullopt;
  return owner_seen{line.front(), now_ms() + long_enough_ms};
}

std::vector<std::string_view> sequential_view::queue_at(int lock) const {
  const auto& line = line_of(lock);
  return {line.begin() + (line.empty() ? 0 : 1), line.end()};
}

}  // namespace holdfast::sim
