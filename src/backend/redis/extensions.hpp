// The extensions of layout `string` (seam/lock_store.hpp).
#pragma once
#include <cstdint>
#include <string_view>

#include "seam/result_handler.hpp"

namespace holdfast::redis {

// A write of a redis_guard.
struct guarded_write {
  std::string_view mode;  // ordered, exact, or set (the owner only)
  std::string_view key, token, owner, value;
};

// The values of redis_guard.
class guarded_values {
 public:
  // Writes the value if the guard stored next to it admits the token or the owner.
  virtual void write(const guarded_write&, seam::decision_handler&) = 0;

 protected:
  ~guarded_values() = default;
};

// The counters that number the grants of locks.
class grant_counters {
 public:
  // Raises the counter of this lock to at least `floor`, so that later grants have larger numbers.
  // The result is true once the server has done so.
  virtual void raise(std::string_view name, std::int64_t floor, seam::decision_handler&) = 0;

 protected:
  ~grant_counters() = default;
};

}  // namespace holdfast::redis
