// What failures of a server mean for those who wait, in one table (server_errors.cpp).
//
//   failure                                 | a waiter           | attempt, release, withdrawal
//   ----------------------------------------+--------------------+-----------------------------
//   the connection is lost, or not open yet | waits through it   | until the op-timeout
//   nothing listens there, the name is not  | waits through it   | an attempt fails at once
//   found, the network is unreachable       |                    |
//   an error that passes (LOADING, READONLY,| asks again, after  | asks again until the
//   MISCONF, OOM, BUSY ...)                 | longer each time   | op-timeout
//   any other error (NOAUTH, NOPERM, another| ends at once       | ends at once
//   kind of lock ...), an untrusted peer    |                    |
//
// A waiter ends as well by its own bound, its stop_token, close() and ?outage-timeout=.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/recipes/protocol.hpp"

namespace holdfast::redis {

class value;

// The reply to a claim whose request the server answered with an error; `r` carries what is known
// from the request. not_now: the failure passes.
reply read_error(const value&, reply r);
reply read_error_text(std::string_view, reply r);
std::string explain(std::string_view error_text);  // what it means and what to do

// Whether the data of the server that gives this answer may not be those that were seen before: it
// is a replica, or is being loaded. A number counts only after the counter was lifted again.
bool puts_data_in_doubt(std::string_view error_text) noexcept;
bool puts_data_in_doubt(const value&) noexcept;  // also where an array has such an error

inline constexpr std::string_view other_kind = "OTHERKIND";  // an error of our own

}  // namespace holdfast::redis
