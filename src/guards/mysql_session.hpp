// Statements on a mysql_connection.
#pragma once
#include <holdfast/mysql.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {
inline namespace v0 {

struct mysql_connection::state {
  st_mysql* mysql = nullptr;
  unsigned fork_generation = 0;
  bool is_ours = false;  // made by open()

  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state();
};

struct mysql_access {
  static mysql_connection::state& state(const mysql_connection& c) { return *c.state_; }
};

}  // namespace v0

namespace guards {

// What an integer column can store.
struct integer_range {
  std::int64_t least = 0;
  std::uint64_t most = 0;
};

struct sql_field {
  std::string name;
  std::optional<integer_range> integer;  // of an integer column
  bool is_time = false;                  // DATETIME or TIMESTAMP
  int decimals = 0;                      // its digits after the point
  bool is_float = false;
  bool is_binary = false;  // BINARY, BLOB ..
  bool is_never_null = false;
};

struct sql_answer {
  bool is_contended = false;  // not executed: a deadlock, or the row's lock was not granted in time
  std::uint64_t affected = 0, insert_id = 0;
  std::vector<sql_field> fields;
  std::vector<std::vector<std::optional<std::string>>> rows;

  sql_value value(std::size_t row, std::size_t column) const;
};

enum class sql_effect : unsigned char { reads, writes };

// Of this process; from now on forks are counted.
unsigned watched_fork_generation();

// Runs one statement. `operation` is for messages: "write". Throws lock_error: unavailable,
// outcome_unknown (of one that writes), refused, mismatch, forked.
sql_answer run(const mysql_connection&, std::string_view operation, const std::string& statement,
               sql_effect);

// A statement that was not executed because another transaction has the row. Throws lock_error.
[[noreturn]] void fail_contended(std::string_view operation);

struct transaction_status {
  bool is_open = false;
  bool commits_each_statement = true;
};
// As the server reported with its last reply.
transaction_status transaction_of(const mysql_connection&);

}  // namespace guards
}  // namespace holdfast
