// The values of redis_guard: an extension of layout `string`.
#pragma once
#include <string_view>

#include "seam/result_handler.hpp"

namespace holdfast::redis {

struct guarded_write {
  std::string_view mode;  // ordered, exact, or set (the owner only)
  std::string_view key, token, owner, value;
};

class guarded_values {
 public:
  // Writes the value if the guard stored next to it admits the token or the owner.
  virtual void write(const guarded_write&, seam::decision_handler&) = 0;

 protected:
  ~guarded_values() = default;
};

}  // namespace holdfast::redis
