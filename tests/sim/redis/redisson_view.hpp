// The locks of the layouts of Redisson on the model of Redis.
#pragma once
#include "tests/sim/redis/retrying_view.hpp"

namespace holdfast::sim {

// RLock: a hash {owner -> holds}.
class redisson_view : public retrying_view {
 public:
  using retrying_view::retrying_view;

  owner_is kind_of(std::string_view owner) const override;
  std::string_view claim_in(std::string_view id) const override;
  std::optional<owner_seen> owner_at(int lock) const override;
  rule_set rules() const override { return {rule::twice}; }
  int holds_of(int lock, std::string_view id) const override;
};

// RFairLock: besides a list of those that wait, the next one first.
class redisson_fair_view final : public redisson_view {
 public:
  using redisson_view::redisson_view;

  std::vector<std::string_view> queue_at(int lock) const override;
};

// RReadWriteLock: "mode" says which fields are holders, and each hold of a reader is a key that
// lives as long as its lease. Readers that hold together are the owner "readers:<number>".
class redisson_rw_view final : public redisson_view {
 public:
  using redisson_view::redisson_view;

  owner_is kind_of(std::string_view owner) const override;
  std::int64_t number_of(std::string_view group) const override;
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::pair<std::string_view, double>> members_at(int lock) const override;

 private:
  mutable std::string group_;
};

}  // namespace holdfast::sim
