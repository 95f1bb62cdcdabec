// One database: keys, and when they lapse.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tests/sim/redis/model/values.hpp"

namespace holdfast::sim {

// A key is there up to and including the millisecond in which it expires, as in Redis. Pointers
// stay good until their key is erased.
class keyspace {
 public:
  value* find(std::string_view key, std::int64_t now_ms);  // null: absent or lapsed, then dropped
  value& make(std::string_view key) { return values_.try_emplace(std::string(key)).first->second; }
  bool erase(std::string_view key, std::int64_t now_ms);
  void drop_due(std::int64_t now_ms);
  void clear() { values_.clear(); }
  std::size_t size() const { return values_.size(); }

  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [key, v] : values_) visit(key, v);
  }

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, value, text_hash, std::equal_to<>> values_;
};

}  // namespace holdfast::sim
