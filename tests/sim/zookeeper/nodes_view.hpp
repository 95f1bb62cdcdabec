// Locks that are nodes, as a quorum of the servers has them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/zookeeper/lock_nodes.hpp"
#include "tests/sim/zookeeper/zookeeper_store.hpp"

namespace holdfast::sim {

// An id is that of a contender. A claim has one for each attempt.
class nodes_view final : public lock_view {
 public:
  nodes_view(zookeeper_store&, const zookeeper_layout&, const std::vector<std::string>& lock_names,
             int permits);

  void served(std::string_view client, std::string_view requests) override;
  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view id) const override;
  std::string_view claim_in(std::string_view id) const override { return id.substr(0, own_part); }
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view) const override { return 0; }
  std::int64_t number_of_reader(std::string_view group, std::string_view id) const override;

  std::int64_t now_ms() const override;
  double now_us() const override;
  bool has_listener(std::string_view client) const override { return !client.empty(); }
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int lock) const override;
  std::vector<std::pair<std::string_view, double>> members_at(int lock) const override;
  bool is_given_up(int lock, std::string_view id) const override;
  int permits_of(int lock, std::string_view id) const override;
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  const lock_nodes& nodes_of(int lock) const;
  bool has_permits() const noexcept;

  zookeeper_store& store_;
  const zookeeper_layout& layout_;
  const std::vector<std::string> names_;
  const int permits_;
  std::map<std::string, std::string, std::less<>> clients_;           // by own part
  mutable std::map<std::string, std::int64_t, std::less<>> numbers_;  // of the first node, likewise
  mutable std::size_t seen_ = 0;                                      // of what was agreed on
  mutable std::vector<lock_nodes> locks_;                             // as they were then
};

}  // namespace holdfast::sim
