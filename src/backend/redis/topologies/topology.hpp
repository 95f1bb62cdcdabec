// Which servers a client talks to, and which of them a key belongs to.
#pragma once
#include <span>
#include <string_view>

#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

class topology {
 public:
  virtual ~topology() = default;
  virtual std::span<transport* const> nodes() noexcept = 0;  // the same for its whole life
  virtual transport& node_of(std::string_view key) noexcept = 0;
};

}  // namespace holdfast::redis
