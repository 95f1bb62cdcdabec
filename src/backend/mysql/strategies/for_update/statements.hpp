// The statements of strategy `for-update`, and its table: one row for each name that was ever used.
//
// A statement finds its row by the primary key, so it locks that row alone. They are executed in
// a transaction that writes nothing; automatic commits are off on the connection.
#pragma once
#include <string>
#include <string_view>

#include "backend/mysql/strategies/pinned/lock_statements.hpp"

namespace holdfast::mysql::for_update {

// Statements that an operator's query sends: {1}, or no row.
struct row_probes {
  std::string read;                  // no row: the row does not exist
  std::string as_writer, as_reader;  // lock it for as long as they run; no row: it is locked
};

class statements final : public pinned::lock_statements {
 public:
  statements(std::string_view table, std::string_view prefix);

  std::string key_of(std::string_view name) const override { return prefix_ + std::string(name); }
  sql_statement try_lock(std::string_view key, lock_mode) const override;
  sql_statement wait(std::string_view key, lock_mode) const override;
  sql_statement confirm(std::string_view key, lock_mode) const override;
  sql_statement create(std::string_view key) const override;
  sql_statement release(std::string_view) const override { return "COMMIT"; }
  sql_statement end_of_try() const override { return "ROLLBACK"; }

  row_probes probes(std::string_view key) const;
  // {engine, the columns of the primary key with their types}, or no row: there is no such table
  std::string describe_table() const;
  std::string create_table() const;

 private:
  const std::string name_, table_, prefix_;
};

inline constexpr std::string_view key_of_table = "name varbinary";  // of describe_table()

}  // namespace holdfast::mysql::for_update
