// The servers of a client.
#pragma once
#include <span>

#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

class topology {
 public:
  virtual ~topology() = default;
  virtual std::span<transport* const> nodes() noexcept = 0;  // the same for its whole life
};

}  // namespace holdfast::redis
