// Facts that a server reports by INFO and TIME.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/server_time.hpp"

namespace holdfast::redis {

class value;

// The first bytes of a server's text, with ? for each byte that cannot be printed.
std::string printable(std::string_view text, std::size_t bytes_max = 60);

// The value of one field; empty when it is not there.
std::string_view info_field(std::string_view info, std::string_view name) noexcept;

// The warning for the log if INFO memory shows that the server may evict the keys of locks; empty
// otherwise, or if it is unknown. Without maxmemory nothing is evicted, whatever the policy.
std::string eviction_warning(std::string_view info);

server_time read_time(const value&);  // the reply to TIME; zero: it is none

}  // namespace holdfast::redis
