// The statements of strategy `insert`, and its two tables.
//
//   table of records | content
//   -----------------+---------------------------------------------------------------------------
//   key [, type]     | of the lock; they have a unique key
//   note             | of the holder
//   owner            | of the claim; a record that another program inserted has none
//   count            | 1, for other programs
//   update_time      | of the acquire or the last renewal, by the server's clock
//   lease            | in milliseconds: the record expires that long after its update_time. 0, the
//                    | default of the column: it never does
//
//   table of numbers | content
//   -----------------+---------------------------------------------------------------------------
//   name             | of the lock, with the prefix of the client
//   grant_number     | of the last grant; it only grows, and no clean-up touches it
//
// The INSERT is the lock, and the DELETE ends it. The INSERT of a record that exists has no effect,
// in place of an error: with an AUTO_INCREMENT column beside the unique key, plain inserts and
// deletes of one record deadlock.
//
// The INSERT grants nothing yet. The UPDATE after it compares the owner, begins the lease and draws
// the number in one step; the same UPDATE takes over an expired record.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/mysql/strategies/insert/columns.hpp"
#include "backend/mysql/strategies/retrying/statements.hpp"

namespace holdfast::mysql::insert {

using retrying::lock_request;

class statements final : public retrying::statements {
 public:
  // The columns outlive it.
  statements(std::string_view table, const columns&);

  // Steps: 0 look, 1 insert, 2 take, 3 look, 4 create the number, 5 take, 6 look. A poll of a
  // waiter reads only: an INSERT without effect would use up a number of an AUTO_INCREMENT column.
  sql_statement try_lock(const lock_request&, std::uint8_t step) const override;
  sql_statement look(std::string_view name) const override;
  sql_statement renew(const lock_request&) const override;
  sql_statement release(std::string_view name, std::string_view owner, lock_mode) const override;
  std::string page_of_holders(std::string_view prefix, const retrying::page_cursors&,
                              std::int64_t limit) const override;
  std::string holders_of(std::string_view name) const override;

  std::string expired_by_prefix(std::string_view prefix, const sql_row& last,
                                std::int64_t limit) const override;
  sql_statement expiry(std::string_view name, std::string_view owner) const override;

  std::string show_columns() const;      // {name, type, digits of a second, character set}
  std::string show_unique_keys() const;  // {columns, whether one counts in part only}
  std::string create_records() const;
  std::string show_numbers() const;  // an error: there is no such table
  std::string create_numbers() const;

 private:
  std::string look(std::string_view name, std::string_view owner) const;
  std::string insert(const lock_request&) const;
  std::string take(const lock_request&) const;
  std::string create_number(std::string_view name) const;
  std::string is_record(std::string_view name) const;
  std::string has_prefix(std::string_view prefix) const;
  std::string is_of_type() const;
  std::string is_expired() const;
  std::string left() const;                         // microseconds; NULL: it never expires
  std::string column(std::string_view name) const;  // of the table of records
  std::string is_owner(std::string_view owner) const;
  std::string holders(const std::string& which) const;
  std::string comes_after(const sql_row& last) const;

  const std::string table_;  // as given; the names below are quoted
  const std::string records_, numbers_;
  const columns& columns_;
};

}  // namespace holdfast::mysql::insert
