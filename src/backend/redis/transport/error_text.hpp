// The meaning of a server's errors for waiters, in one table (error_text.cpp).
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
#include <holdfast/error.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/transport/reply_handler.hpp"

namespace holdfast::redis {

struct error_meaning {
  std::string_view code;  // the first word of an error
  errc why{};
  bool is_passing = false;   // without the client's doing: a waiter waits through it
  bool doubts_data = false;  // see puts_data_in_doubt()
  std::string_view what_to_do;
};

// The meaning of an error, also where it aborted a transaction or a script; null when it is in
// neither table. `more`: the errors of a layout's own scripts.
const error_meaning* meaning_of(std::string_view error,
                                std::span<const error_meaning> more = {}) noexcept;
// The meaning, and the remedy.
std::string explain(std::string_view error, std::span<const error_meaning> more = {});

// Whether the data of the server that gives this answer may not be those that were seen before: it
// is a replica, or is being loaded.
bool puts_data_in_doubt(std::string_view error) noexcept;
bool puts_data_in_doubt(const value&) noexcept;  // also where an array has such an error

// Whether a replica says this: it takes no writes, has lost its master, or has become one during a
// WAIT.
bool is_of_replica(std::string_view error) noexcept;
bool is_of_replica(const value&) noexcept;  // also where an array has such an error
// Another server of a cluster has the key, or is about to have it.
bool is_redirection(const value&) noexcept;

// Why the server did nothing of a request that has this last reply; nullopt: it may have executed
// it. `aborted`: the error that made it discard the transaction.
std::optional<not_executed> not_executed_by(const value&, std::string_view aborted) noexcept;

// Whether the user lacks the right to a key, not to a command.
bool is_key_denied(const value&) noexcept;

}  // namespace holdfast::redis
