// The Lua scripts of layout `string`, out of scripts/*.lua, as they are sent to the server.
#pragma once
#include "backend/redis/layouts/script.hpp"

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

const script& script_of(script_name) noexcept;  // generated at build time

}  // namespace holdfast::redis
