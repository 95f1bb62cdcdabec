// The shards that a redis+shards: URL names.
//
//   redis+shards://a,b,c          each server is a shard; its options are those of a redis: URL
//   redis+shards:///etc/shards    a file with a line for each shard:
//                                 NAME URL [weight=NUMBER] [was=NUMBER]
//
// While the list changes, `was` has the former weights. A shard that is added was 0, and one that
// is removed has the weight 0.
#pragma once
#include <string>
#include <vector>

#include "seam/registry.hpp"

namespace holdfast::redis {

struct shard_place {
  std::string name;  // by which the locks are spread, wherever the servers are
  double weight = 1;
  double former_weight = 1;
  url where;
  std::vector<url::option> own;
};

// Throws lock_error (bad_url, bad_option). Blocks to read the file.
std::vector<shard_place> read_shards(const seam::open_args&);

}  // namespace holdfast::redis
