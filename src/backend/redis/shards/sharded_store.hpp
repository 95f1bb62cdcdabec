// The locks of one kind on all shards: each name has one shard, and its locks are that one's.
#pragma once
#include <memory>
#include <vector>

#include "backend/redis/guarded_values.hpp"
#include "backend/redis/shards/rendezvous.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::redis {

class sharded_store final : public seam::lock_store, private guarded_values {
 public:
  // Both outlive it, and are in the order of the shards; the stores are of one layout.
  sharded_store(std::span<const weighted_name> shards, std::vector<lock_store*> stores) noexcept
      : shards_(shards), stores_(std::move(stores)) {}

  const seam::capabilities& can() const noexcept override { return stores_.front()->can(); }
  std::string name_fault(std::string_view name) const override { return of(name).name_fault(name); }
  std::unique_ptr<seam::claim> open(std::string_view name, seam::claim_sink& sink) override {
    return of(name).open(name, sink);
  }
  bool can_lock_all(std::span<const std::string_view>) const override;
  void inspect(std::string_view prefix, seam::holders_handler&) override;
  void holders(std::string_view name, seam::holders_handler& to) override {
    of(name).holders(name, to);
  }
  void break_lock(std::string_view name, std::string_view seen,
                  seam::decision_handler& to) override {
    of(name).break_lock(name, seen, to);
  }

 private:
  lock_store& of(std::string_view name) const noexcept { return *stores_[shard_of(name, shards_)]; }
  void* find_extension(const std::type_info&) noexcept override;
  // A guard and its value stand at the shard of the value's key.
  void write(const guarded_write&, seam::decision_handler&) override;

  const std::span<const weighted_name> shards_;
  const std::vector<lock_store*> stores_;
};

}  // namespace holdfast::redis
