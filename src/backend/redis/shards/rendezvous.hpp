// Which shard a lock belongs to: rendezvous hashing (Thaler and Ravishankar, 1998), with weights
// (Schindelhauer and Schomaker, 2005).
//
// Each shard draws a number from its name and the lock's, and the largest has the lock. A shard
// that is added or removed so moves its own locks and no others. The result is part of the format:
// every client, of every version and machine, has to compute the same.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::redis {

struct weighted_name {
  std::string name;
  double weight = 1;  // the share of a shard is its weight in the sum of all
};

// There is at least one shard. Of a name with a part in braces, as "{order-7}:lines", only that
// part counts, so that names that have it in common belong to one shard.
std::size_t shard_of(std::string_view lock, std::span<const weighted_name> shards) noexcept;

}  // namespace holdfast::redis
