// Updates of the program's own rows in MariaDB or MySQL without a lock: read the row and its
// version, change the values, and write them if the version is still the same.
//
// No lock is held while a user edits or a program computes, and a crash leaves nothing behind. The
// price is paid when writers meet: all but one of them have to read and compute again. Where more
// than a few writers want one row at a time, a lock is faster (docs/mysql.md has the figures).
#pragma once
#include <holdfast/mysql.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// How a row shows that it was written.
//
// `number` is an integer that each write raises by one. Prefer it. `update_time` is a DATETIME(6)
// or TIMESTAMP(6) for tables that have such a column already; each write sets it to the server's
// time, and at least one unit of its precision above the last value. It is the weaker choice:
//  - A writer that sets it to NOW() by itself, in a column of whole seconds, writes the same value
//    twice within a second. Two such writers that have read the same row both succeed.
//  - NOW() goes back with the server's clock, with a failover to a server whose clock is behind,
//    and where daylight saving time ends.
//  - A TIMESTAMP is shown in the session's time zone. In the hour that occurs twice, its value does
//    not name one moment, and writes may be refused until that hour is over.
enum class row_version : unsigned char { number, update_time };

// A table with versions. The version column is NOT NULL, and every program that changes the rows
// checks and raises it.
struct versioned_table {
  std::string table;                   // "stock", or "shop.stock" of another database
  std::vector<std::string> key{"id"};  // the columns of the primary key or another unique key
  std::string version = "version";     // the column with the version
  row_version kind = row_version::number;
};

// A row as it was read. The version is text, so that a form or a request can carry it.
struct versioned_row {
  sql_columns key, values;  // the columns of the key, and the columns that were read
  std::string version;      // the version that the row had
};

// When optimistic_table::update() tries again after a conflict. It pauses before each attempt but
// the first: at random up to `pause`, a limit that doubles with each conflict up to `pause_max`.
struct conflict_limits {
  std::uint32_t attempts = 20;                  // at least 1
  std::chrono::microseconds pause{500};         // from 0
  std::chrono::microseconds pause_max{50'000};  // the longest pause
};

// How an update ended.
enum class update_status : unsigned char {
  written,   // the changes are stored
  kept,      // the function returned no changes
  absent,    // there is no row with that key
  conflict,  // other writers were faster in every attempt; nothing was written
  stopped,   // stop was requested between two attempts; nothing was written
};

struct update_outcome {
  update_status status = update_status::conflict;
  std::uint32_t conflicts = 0;  // how many attempts were refused
  // True when the changes were written.
  explicit operator bool() const noexcept { return status == update_status::written; }
};

// Reads and writes the rows of one table. As thread-safe as its connection: one connection for each
// thread. Copies share the connection.
//
// Errors of every member but the constructor:
// errc::bad_name         a column has no valid name
// errc::bad_option       the key does not have exactly the columns of the table's key; the changes
//                        have a column of the key or the version, or are empty; a version is
//                        malformed
// errc::mismatch         the table or a column does not exist, the version column has another type
//                        or may be NULL, several rows have the key, or a value does not fit
// errc::exhausted        the version column has reached its highest number
// errc::refused          the server denied it: rights
// errc::unavailable      the connection was lost before, or the server cannot serve now; nothing
//                        was written
// errc::outcome_unknown  the connection was lost during a write, which may have taken effect: read
//                        the row again on another connection
// errc::closed           the connection is empty
// errc::forked           the connection was made before fork(), and this is the child
class optimistic_table {
 public:
  // errc::bad_name    a table or a column has no valid name
  // errc::bad_option  the key has no columns, or the version is one of them
  // Does not block.
  optimistic_table(mysql_connection where, versioned_table table);

  // Reads a row.
  //
  // columns  their names; none: all columns
  // Returns the row, or nothing when there is none.
  // Blocks until the server has replied. Inside a transaction it reads that transaction's snapshot,
  // which may be old; write() compares with the newest row in any case.
  std::optional<versioned_row> read(const sql_columns& key,
                                    const std::vector<std::string>& columns = {});
  std::optional<versioned_row> read(const sql_columns& key, const std::vector<std::string>& columns,
                                    std::error_code&);

  // Writes the changes if the row still has that version: one attempt, for an editor that was
  // opened some time ago.
  //
  // version  versioned_row::version of the read on which the changes are based
  // Returns false when the row was changed meanwhile, or deleted; then nothing was written.
  // errc::unavailable  also: another transaction has the row (a deadlock, or
  //                    innodb_lock_wait_timeout has passed)
  // Blocks until the server has replied. Inside a transaction the row stays locked until COMMIT.
  [[nodiscard]] bool write(const sql_columns& key, std::string_view version,
                           const sql_columns& changes);
  [[nodiscard]] bool write(const sql_columns& key, std::string_view version,
                           const sql_columns& changes, std::error_code&);
  [[nodiscard]] bool write(const versioned_row& row, const sql_columns& changes) {
    return write(row.key, row.version, changes);
  }
  [[nodiscard]] bool write(const versioned_row& row, const sql_columns& changes,
                           std::error_code& ec) {
    return write(row.key, row.version, changes, ec);
  }

  // Reads the row, calls `change` with its values, and writes what that returns; after a conflict
  // it starts again, until the limits are reached.
  //
  // change  returns the columns to write; nothing: the row stays as it is. It may be called several
  //         times, and has no other effects. What it throws passes through
  // errc::mismatch  also: the session is in a transaction or has autocommit off. Its reads would
  //                 return the same old row after each conflict
  // Blocks for the attempts and the pauses between them.
  //
  //   stock.update({{"id", 7}}, [](const hf::sql_columns& row) -> std::optional<hf::sql_columns> {
  //     const auto left = std::get<std::int64_t>(row.at("left"));
  //     if (left == 0) return std::nullopt;
  //     return hf::sql_columns{{"left", left - 1}};
  //   });
  using change_function = std::function<std::optional<sql_columns>(const sql_columns& values)>;
  update_outcome update(const sql_columns& key, const change_function& change,
                        const conflict_limits& limits = {}, std::stop_token stop = {});
  update_outcome update(const sql_columns& key, const change_function& change,
                        const conflict_limits& limits, std::stop_token stop, std::error_code&);

  struct state;  // opaque

 private:
  std::shared_ptr<state> state_;
};

// A table whose rows begin as drafts: the row is created first, edited, and checked when it is
// submitted. Two requests for one form cannot insert two rows, and a submit that arrives late
// changes nothing. Its columns, in addition to the program's own:
//
//   CREATE TABLE article (
//     id       BIGINT AUTO_INCREMENT PRIMARY KEY,
//     version  BIGINT NOT NULL,
//     is_draft BOOLEAN NOT NULL,
//     touched  DATETIME(6) NOT NULL,        -- when the draft was created or saved last, in UTC
//     title    VARCHAR(200) NOT NULL DEFAULT '',
//     KEY drafts (is_draft, touched))       -- without it a sweep locks the whole table
struct draft_columns {
  std::string table;  // "article", or "shop.article" of another database
  // The names of its columns.
  std::string id = "id", version = "version", is_draft = "is_draft", touched = "touched";
};

// An open draft: it belongs to one editor. Two editors may open one draft; the first one that saves
// or submits wins.
struct draft {
  std::int64_t id = 0;  // of the row
  std::string version;  // the version that the row had
  sql_columns values;   // as they were read or saved last
};

enum class draft_status : unsigned char {
  changed,    // another editor has saved the draft since it was opened; or there was an error
  done,       // the step has taken effect
  submitted,  // the row is no draft any longer
  gone,       // the draft was abandoned or swept, or its creation was rolled back
};

// What a crash or a ROLLBACK leaves between two steps:
//
//   after     | crash of the editor             | ROLLBACK of the step's transaction
//   ----------+---------------------------------+--------------------------------------------------
//   create()  | a draft, until sweep()          | no row, and a gap in the ids; submit(): gone
//   save()    | the draft as saved, until       | the draft as before. This object has the version
//             | sweep()                         | that was undone: submit(): changed; open again
//   submit()  | the row, complete               | the draft as before, the same
//   abandon() | nothing                         | the draft as before; it can be submitted
//
// Errors and thread safety as for optimistic_table.
class draft_table {
 public:
  draft_table(mysql_connection where, draft_columns columns);

  // Inserts a draft with these values. Commit it before its id is handed to an editor.
  // errc::mismatch  also: the id column is not AUTO_INCREMENT
  draft create(const sql_columns& initial = {});
  draft create(const sql_columns& initial, std::error_code&);
  // Reads a draft. Nothing: it was submitted or is gone.
  std::optional<draft> open(std::int64_t id);
  std::optional<draft> open(std::int64_t id, std::error_code&);
  // Stores an intermediate state; the draft is not swept for another while.
  [[nodiscard]] draft_status save(draft&, const sql_columns& changes);
  [[nodiscard]] draft_status save(draft&, const sql_columns& changes, std::error_code&);
  // Stores the changes and ends the draft: the row counts from now on.
  [[nodiscard]] draft_status submit(draft&, const sql_columns& changes = {});
  [[nodiscard]] draft_status submit(draft&, const sql_columns& changes, std::error_code&);
  // Deletes the draft.
  [[nodiscard]] draft_status abandon(const draft&);
  [[nodiscard]] draft_status abandon(const draft&, std::error_code&);
  // Deletes drafts that were neither saved nor created within this time by the server's clock. It
  // is longer than the longest edit without a save. Never deletes a submitted row.
  //
  // limit  of one call; call again while it returns the limit
  // Returns how many it has deleted.
  std::uint64_t sweep(std::chrono::milliseconds untouched_for, std::uint32_t limit = 1000);
  std::uint64_t sweep(std::chrono::milliseconds untouched_for, std::uint32_t limit,
                      std::error_code&);

 private:
  draft_status finish(const draft&, const std::string& statement, std::string_view operation);
  std::string is_at(const draft&, std::string_view operation) const;

  mysql_connection where_;
  draft_columns columns_;
};

}  // namespace v0
}  // namespace holdfast
