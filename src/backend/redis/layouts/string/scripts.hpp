// The Lua scripts of layout `string`, out of scripts/*.lua, as they are sent to the server.
#pragma once
#include <span>
#include <string_view>

#include "backend/redis/transport/script_cache.hpp"

namespace holdfast::redis {

enum class script_name : unsigned char {
  lock_or_queue,
  member_lock_or_queue,  // of readers and holders of permits
  release,
  member_release,
  withdraw,
  renew,
  renew_members,
  resolve,
  downgrade,
  break_lock,
  raise_counter,
  release_uncontended,
  release_with_successor,
  lock_all,
  guard,  // a text for other scripts
  guarded_write,
};

std::span<const script> all_scripts() noexcept;  // generated at build time
inline const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

}  // namespace holdfast::redis
