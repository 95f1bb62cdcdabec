// The locks of layout `string` on the model of Redis, for the judge.
#pragma once
#include <string>
#include <vector>

#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/redis/redis_store.hpp"

namespace holdfast::sim {

class redis_view final : public lock_view {
 public:
  redis_view(redis_store&, const std::vector<std::string>& lock_names);

  rule_set rules() const override { return {rule::dead, rule::notes}; }
  owner_is kind_of(std::string_view owner) const override;
  bool is_reader(std::string_view id) const override { return id.starts_with("hfs:"); }
  std::string_view claim_in(std::string_view id) const override;
  std::string_view client_in(std::string_view id) const override;
  std::int64_t number_of(std::string_view group) const override;

  std::int64_t now_ms() const override { return store_.wall().count() / 1000; }
  double now_us() const override { return static_cast<double>(store_.wall().count()); }
  bool has_listener(std::string_view client) const override;
  std::optional<owner_seen> owner_at(int lock) const override;
  std::vector<std::string_view> queue_at(int lock) const override;
  std::vector<std::pair<std::string_view, double>> members_at(int lock) const override;
  int permits_of(int lock, std::string_view id) const override;
  std::vector<std::string_view> notes_at(int lock, bool of_waiters) const override;
  bool asks_for_several(std::string_view request, std::string_view id) const override;

 private:
  struct keys {
    std::string lock, queue, members, notes;
  };
  const keys& of(int lock) const { return keys_[static_cast<std::size_t>(lock)]; }

  redis_store& store_;
  std::vector<keys> keys_;
};

}  // namespace holdfast::sim
