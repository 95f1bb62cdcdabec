// The messages that the scripts of layout `string` send to a client: what|text|...|owner|lock.
//
//   grant|<number>|<time>|<window>|<others>|<stamp>|<owner>|<lock>   it has been handed the lock
//   look|<time>|<owner>|<lock>                                       it is to look at the lock then
//   wanted|<ignored>|<owner>|<lock>                                  others wait for what it holds
#pragma once
#include <optional>
#include <string_view>

#include "backend/redis/recipes/protocol.hpp"

namespace holdfast::redis {

struct pushed_message {
  push::kind what = push::kind::grant;
  bool others = false;      // grant: somebody else waits
  std::int64_t number = 0;  // grant
  server_time at{};         // grant, look
  duration window{};        // grant: what it is worth from then on
  std::string_view stamp;   // grant: of the server, by who made it send this; empty: not known
  std::string_view owner;
  std::string_view lock;  // any bytes
};

// Nothing when it is none of these.
std::optional<pushed_message> read_message(std::string_view payload) noexcept;

}  // namespace holdfast::redis
