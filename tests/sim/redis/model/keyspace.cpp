#include "tests/sim/redis/model/keyspace.hpp"

namespace holdfast::sim {

value* keyspace::find(std::string_view key, std::int64_t now_ms) {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  if (now_ms <= found->second.expires_ms) return &found->second;
  values_.erase(found);
  return nullptr;
}

bool keyspace::erase(std::string_view key, std::int64_t now_ms) {
  const auto found = values_.find(key);
  if (found == values_.end()) return false;
  const bool lapsed = now_ms > found->second.expires_ms;
  values_.erase(found);
  return !lapsed;
}

void keyspace::drop_due(std::int64_t now_ms) {
  std::erase_if(values_, [&](const auto& v) { return now_ms > v.second.expires_ms; });
}

}  // namespace holdfast::sim
