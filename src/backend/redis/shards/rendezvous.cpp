#include "backend/redis/shards/rendezvous.hpp"

#include <cmath>
#include <cstdint>

#include "backend/redis/layouts/string/names.hpp"

namespace holdfast::redis {

namespace {

// FNV-1a over "shard NUL key", and the finalizer of MurmurHash3, without which keys that differ in
// their last byte only would get similar values.
std::uint64_t hash_of(std::string_view shard, std::string_view key) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;
  const auto add = [&h](char c) { h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3; };
  for (const char c : shard) add(c);
  add('\0');
  for (const char c : key) add(c);
  h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
  return h ^ h >> 33;
}

}  // namespace

std::size_t shard_of(std::string_view lock, std::span<const weighted_name> shards) noexcept {
  const std::string_view tag = tag_of(lock);
  const std::string_view key = tag.empty() ? lock : tag;
  std::size_t best = 0;
  double best_score = -1;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    // The upper 52 bits and a half, which a double holds exactly, as a number between 0 and 1.
    const double drawn = (static_cast<double>(hash_of(shards[i].name, key) >> 12) + 0.5) * 0x1p-52;
    const double score = shards[i].weight / -std::log(drawn);
    if (score <= best_score) continue;
    best = i;
    best_score = score;
  }
  return best;
}

}  // namespace holdfast::redis
