// The locks of one kind on all shards: each name has one shard, and its locks are that one's. While
// the list of shards changes, a name may have a former shard and a present one.
#pragma once
#include <memory>
#include <vector>

#include "backend/redis/extensions.hpp"
#include "backend/redis/shards/moving_claim.hpp"
#include "backend/redis/shards/rendezvous.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::redis {

// Which shard has a name, by the list in use and by the one before. The lists have the same shards;
// one that is not in a list has the weight 0 there.
struct shard_lists {
  std::vector<weighted_name> present, former;

  std::size_t shard(std::string_view name) const noexcept { return shard_of(name, present); }
  std::size_t former_shard(std::string_view name) const noexcept { return shard_of(name, former); }
  bool is_moving(std::string_view name) const noexcept {
    return is_changing && shard(name) != former_shard(name);
  }
  bool is_changing = false;
};

class sharded_store final : public seam::lock_store, private guarded_values {
 public:
  // The lists, the stores and their connections outlive it. The places are in the order of the
  // shards, and of one layout.
  sharded_store(const shard_lists& lists, std::vector<moving_claim::place> places,
                moving_claims& moving) noexcept
      : lists_(lists), places_(std::move(places)), moving_(moving) {}

  const seam::capabilities& can() const noexcept override { return places_.front().locks->can(); }
  std::string name_fault(std::string_view name) const override { return of(name).name_fault(name); }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& sink) override;
  bool can_lock_all(std::span<const std::string_view>) const override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void holders(std::string_view name, seam::holders_handler&) override;
  void break_lock(std::string_view name, std::string_view seen, seam::decision_handler&) override;
  // Whether a lock may be acquired at two shards one after the other.
  bool can_move_locks() const noexcept;

 private:
  lock_store& of(std::string_view name) const noexcept {
    return *places_[lists_.shard(name)].locks;
  }
  lock_store& former_of(std::string_view name) const noexcept {
    return *places_[lists_.former_shard(name)].locks;
  }
  void* find_extension(const std::type_info&) noexcept override;
  // A guard and its value are stored at the shard of the value's key: during a change at the former
  // one, which clients with either list use.
  void write(const guarded_write&, seam::decision_handler&) override;

  const shard_lists& lists_;
  const std::vector<moving_claim::place> places_;
  moving_claims& moving_;
};

}  // namespace holdfast::redis
