// The errors of a server, and of libmariadb: what they mean for a lock, and their texts.
#pragma once
#include <string>
#include <string_view>

#include "base/failure.hpp"

namespace holdfast::mysql {

// The numbers are the same in MariaDB and MySQL unless a comment says otherwise.
namespace error {
inline constexpr unsigned database_denied = 1044, access_denied = 1045, no_database = 1049,
                          no_column = 1054, no_such_thread = 1094, not_owner_of_thread = 1095,
                          command_denied = 1142, column_denied = 1143, no_table = 1146,
                          lock_wait_timeout = 1205, deadlock = 1213, read_only = 1290,
                          query_interrupted = 1317, locked_now = 3572;  // MySQL, with NOWAIT
}  // namespace error

// What an error of the server says about a statement.
enum class sql_verdict : unsigned char {
  not_now,  // not executed, and the same statement may be executed later
  refused,  // it never will be, unless someone changes the server
};

sql_verdict verdict_of(unsigned error) noexcept;
// The server closes the connection after it.
bool ends_connection(unsigned error) noexcept;
// The failure that a user sees: the reason and the remedy. `text` is the server's own.
base::failure explain(unsigned error, std::string_view text);
// Why a connection has ended.
base::failure explain_loss(unsigned error, std::string_view text);
// Why the outcome of a transaction is unknown: `unavailable`, whatever the error.
base::failure explain_doubt(unsigned error, std::string_view text);
// For an attempt to connect.
base::failure explain_connecting(unsigned error, std::string_view text);
// A failure from explain_connecting(): the server, or this user, has no connection left.
bool is_shortage(const base::failure&) noexcept;

}  // namespace holdfast::mysql
