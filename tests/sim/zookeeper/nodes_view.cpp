#include "tests/sim/zookeeper/nodes_view.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr std::string_view all_readers = "readers", all_permits = "permits";
constexpr std::int64_t long_enough_ms = 1'000'000;  // when a session ends is up to the servers

}  // namespace

nodes_view::nodes_view(zookeeper_store& s, const zookeeper_layout& l,
                       const std::vector<std::string>& lock_names, int permits)
    : store_(s), layout_(l), names_(lock_names), permits_(permits), locks_(lock_names.size()) {}

// Whose a node is shows in the request that creates it: no other client knows its name before.
void nodes_view::served(std::string_view client, std::string_view requests) {
  for (const std::string& lock : names_)
    for (const own_text& where : layout_.own_texts) {
      const std::string before = '/' + lock + std::string(where.behind);
      for (std::size_t at = requests.find(before); at != requests.npos;
           at = requests.find(before, at + 1)) {
        const std::size_t begin = at + before.size() + where.gap;
        if (begin + own_part > requests.size()) break;
        const std::string_view own = requests.substr(begin, own_part);
        if (own.find(stranger_mark) == own.npos && !clients_.contains(own))
          clients_.emplace(own, client);
      }
    }
}

bool nodes_view::has_permits() const noexcept {
  return (layout_.can.modes & seam::bit_of(lock_mode::permit)) != 0;
}

owner_is nodes_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  if (owner == all_readers) return owner_is::readers;
  if (owner == all_permits) return owner_is::permits;
  if (client_in(owner).empty()) return owner_is::foreign;
  return has_permits() ? owner_is::permits : owner_is::claim;
}

bool nodes_view::is_reader(std::string_view id) const {
  const auto reads = [&](const contender& c) { return c.id == id && c.reads; };
  return std::ranges::any_of(locks_, [&](const lock_nodes& l) {
    return std::ranges::any_of(l.holders, reads) || std::ranges::any_of(l.waiters, reads);
  });
}

std::string_view nodes_view::client_in(std::string_view id) const {
  const auto found = clients_.find(claim_in(id));
  return found == clients_.end() ? std::string_view() : found->second;
}

// That of its first node: a writer that becomes a reader keeps it.
std::int64_t nodes_view::number_of_reader(std::string_view, std::string_view id) const {
  const auto found = numbers_.find(claim_in(id));
  return found == numbers_.end() ? 0 : found->second;
}

std::int64_t nodes_view::now_ms() const {
  return std::chrono::floor<std::chrono::milliseconds>(store_.now()).count();
}

double nodes_view::now_us() const { return static_cast<double>(now_ms()) * 1000; }

const lock_nodes& nodes_view::nodes_of(int lock) const {
  if (const std::size_t count = store_.servers().agreed_count(); count != seen_) {
    seen_ = count;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      locks_[i] = layout_.read(store_.servers().agreed(), '/' + names_[i], permits_);
      for (const auto* all : {&locks_[i].holders, &locks_[i].waiters})
        for (const contender& c : *all) numbers_.try_emplace(c.id.substr(0, own_part), c.number);
    }
  }
  return locks_[static_cast<std::size_t>(lock)];
}

// Another program at the head of the line that has no permits yet keeps ours from asking for them.
std::optional<owner_seen> nodes_view::owner_at(int lock) const {
  const lock_nodes& l = nodes_of(lock);
  const std::int64_t end_ms = now_ms() + long_enough_ms;
  if (l.holders.empty()) {
    const bool is_strangers =
        !l.waiters.empty() && kind_of(l.waiters.front().id) == owner_is::foreign;
    if (!is_strangers) return std::nullopt;
    return owner_seen{l.waiters.front().id, end_ms};
  }
  if (has_permits()) return owner_seen{all_permits, end_ms};
  const contender& first = l.holders.front();
  return owner_seen{first.reads ? all_readers : std::string_view(first.id), end_ms};
}

std::vector<std::string_view> nodes_view::queue_at(int lock) const {
  std::vector<std::string_view> out;
  for (const contender& c : nodes_of(lock).waiters) out.push_back(c.id);
  return out;
}

std::vector<std::pair<std::string_view, double>> nodes_view::members_at(int lock) const {
  std::vector<std::pair<std::string_view, double>> out;
  const double end_us = static_cast<double>(now_ms() + long_enough_ms) * 1000;
  for (const contender& c : nodes_of(lock).holders) out.emplace_back(c.id, end_us);
  return out;
}

// Of a session that is attached to no server: its nodes go when it ends.
bool nodes_view::is_given_up(int lock, std::string_view id) const {
  const lock_nodes& l = nodes_of(lock);
  for (const auto* all : {&l.holders, &l.waiters}) {
    const auto found = std::ranges::find(*all, id, &contender::id);
    if (found == all->end()) continue;
    const zk::node* const n = store_.servers().agreed().find(found->path);
    return n && !store_.servers().is_attached(n->stat.ephemeral_owner);
  }
  return false;
}

int nodes_view::permits_of(int lock, std::string_view id) const {
  const lock_nodes& l = nodes_of(lock);
  for (const auto* all : {&l.holders, &l.waiters}) {
    const auto found = std::ranges::find(*all, id, &contender::id);
    if (found != all->end()) return found->permits;
  }
  return 1;
}

}  // namespace holdfast::sim
