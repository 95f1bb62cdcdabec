#include "backend/redis/shards/distinct_servers.hpp"

#include <cstddef>

namespace holdfast::redis {

namespace {

// Without names= the address is the name.
std::string shown(const server_of_shard& s) {
  return s.shard == s.address ? s.address : s.shard + " (" + s.address + ')';
}

bool are_one(const server_of_shard& a, const server_of_shard& b) {
  return !a.run_id.empty() && a.run_id == b.run_id && a.database == b.database;
}

}  // namespace

std::string text_of_same_server(std::span<const server_of_shard> all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (are_one(all[j], all[i]))
        return "the shards " + shown(all[j]) + " and " + shown(all[i]) +
               " are one server; name each server once";
  return {};
}

}  // namespace holdfast::redis
