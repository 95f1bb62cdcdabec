// Maps each slot of a cluster to a shard, from the CLUSTER NODES replies of several nodes. A shard
// is a master and its replicas; one of these may take its place. Pure: no connection, no clock.
//
//   a node reports         | what is believed
//   -----------------------+----------------------------------------------------------------------
//   a master has a slot    | if its epoch is above that with which the slot was claimed before: a
//                          | node that was cut off reports an outdated state
//   a replica is a master  | the same: its shard has another master
//   MOVED, by the master   | the master at that address has the slot, once a node reports it with
//   that has the slot      | that slot, whatever its epoch
#pragma once
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/topologies/cluster/cluster_view.hpp"

namespace holdfast::redis {

class slot_map {
 public:
  struct shard {
    std::string master;  // its id
    base::address at;    // of the master
    std::uint64_t epoch = 0;
    std::set<std::string> members;  // their ids
    std::size_t slots = 0;          // how many it has
  };

  // True when anything has changed.
  bool learn(const std::vector<cluster_node>&);
  // Its own master says that another one has it, at this address.
  void mark_moved(slot_number, std::string_view to);

  const std::vector<shard>& shards() const noexcept { return shards_; }  // none is ever removed
  // As an index of the shards; nothing: nobody is known to have it.
  std::optional<std::size_t> shard_of(slot_number) const noexcept;
  bool is_whole() const noexcept { return claimed_ == slot_count; }  // each slot has a shard
  std::optional<slot_number> first_without_shard() const noexcept;

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  struct claim_to_slot {
    std::uint16_t shard = nobody;
    std::uint64_t epoch = 0;
  };

  std::size_t shard_with(const cluster_node& master);
  bool follow(shard&, const cluster_node& master);
  void give(std::size_t slot, std::size_t to);
  bool has_moved_to(std::size_t slot, const cluster_node&) const;

  std::vector<shard> shards_;
  std::array<claim_to_slot, slot_count> slots_{};
  std::size_t claimed_ = 0;
  std::map<slot_number, std::string> moved_;  // not claimed by that master yet
};

}  // namespace holdfast::redis
