// Facts that a server reports by INFO and TIME.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

class value;

// The value of one field; empty when it is not there.
std::string_view info_field(std::string_view info, std::string_view name) noexcept;

// What to log when the server, by its INFO memory, may evict the keys of locks; empty when it does
// not, or does not say. Without a maxmemory nothing is evicted, whatever the policy.
std::string eviction_warning(std::string_view info);

server_time read_time(const value&);  // the reply to TIME; zero: it is none

}  // namespace holdfast::redis
