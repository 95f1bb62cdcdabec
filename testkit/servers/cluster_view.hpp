// The state of a Redis Cluster as one of its nodes reports it in the reply to CLUSTER NODES.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace holdfast::testkit {

inline constexpr int cluster_slots = 16'384;

struct cluster_node {
  std::string id;
  bool is_self = false;
  bool is_master = false;
  bool is_reachable = false;  // connected, known by its id, and not suspected to have failed
  std::string master;         // the id of a replica's master; empty for a master
  long long config_epoch = 0;
  std::vector<std::pair<int, int>> slots;  // ranges, first to last

  bool owns(int slot) const;
};

class cluster_view {
 public:
  explicit cluster_view(const std::string& reply);

  const std::vector<cluster_node>& nodes() const noexcept { return nodes_; }
  const cluster_node& self() const;  // throws std::runtime_error when the reply has none
  const cluster_node* find(const std::string& id) const;
  const cluster_node* owner_of(int slot) const;
  // The id and the configuration epoch of each slot's owner, by slot; an empty id for a slot
  // without an owner.
  std::vector<std::pair<std::string, long long>> owners_with_epochs() const;

 private:
  std::vector<cluster_node> nodes_;
};

}  // namespace holdfast::testkit
