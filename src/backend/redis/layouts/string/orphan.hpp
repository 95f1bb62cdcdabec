// An owner id of layout `string` that may be left at a server although its claim is gone.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/layouts/server_orphan.hpp"
#include "backend/redis/layouts/string/codec.hpp"

namespace holdfast::redis {

class string_node;

struct orphan final : server_orphan<orphan, string_node> {
  orphan(string_node&, std::string_view name, const owner_text&, time_point end);
  orphan(string_node&, const orphan&);  // the same at another server
  withdrawal withdraw(time_point now);
  static withdrawal take(const value&, time_point) noexcept;

  const std::string key;  // of the lock
  const owner_text owner;
};

}  // namespace holdfast::redis
