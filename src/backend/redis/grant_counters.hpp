// The counters that number the grants of locks: an extension of layout `string`.
#pragma once
#include <cstdint>
#include <string_view>

#include "seam/result_handler.hpp"

namespace holdfast::redis {

class grant_counters {
 public:
  // Raises the counter of this lock to at least `least`, so that later grants have larger numbers.
  // The result is true once the server has done so.
  virtual void raise(std::string_view name, std::int64_t least, seam::decision_handler&) = 0;

 protected:
  ~grant_counters() = default;
};

}  // namespace holdfast::redis
