// Locks that are queues of sequential nodes, as a quorum of the servers has them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/zookeeper/zookeeper_store.hpp"

namespace holdfast::sim {

// An id is the name of a node; a claim has one for each attempt.
class sequential_view final : public lock_view {
 public:
  sequential_view(zookeeper_store&, const std::vector<std::string>& lock_names);

  void served(std::string_view client, std::string_view requests) override;
  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view) const override { return false; }
  std::string_view claim_in(std::string_view id) const override { return id; }
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view) const override { return 0; }

  std::int64_t now_ms() const override;
  double now_us() const override;
  bool has_listener(std::string_view) const override { return true; }
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int lock) const override;
  std::vector<std::pair<std::string_view, double>> members_at(int) const override { return {}; }
  int permits_of(int, std::string_view) const override { return 1; }
  std::vector<std::string_view> notes_at(int, bool) const override { return {}; }
  bool asks_for_several(std::string_view, std::string_view) const override { return false; }

 private:
  const std::vector<std::string>& line_of(int lock) const;

  zookeeper_store& store_;
  const std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> clients_;  // by how a node's name begins
  mutable std::size_t seen_ = 0;                             // of what was agreed on
  mutable std::vector<std::vector<std::string>> lines_;      // as they were then
};

}  // namespace holdfast::sim
