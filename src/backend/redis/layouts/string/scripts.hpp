// The Lua scripts of layout `string`, out of scripts/*.lua, as they are sent to the server.
#pragma once
#include <span>
#include <string_view>

#include "backend/redis/transport/script_cache.hpp"

namespace holdfast::redis {

enum class script_name : unsigned char {
  join,
  enter,  // of members: readers and holders of permits
  release,
  part,  // of members
  leave,
  renew,
  renew_members,
  resolve,
  downgrade,
  take_away,
  raise,
  let_go,
  pass,
  gather,
  guard,  // a text for other scripts
  guarded_write,
};

std::span<const script> all_scripts() noexcept;  // generated at build time
inline const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

}  // namespace holdfast::redis
