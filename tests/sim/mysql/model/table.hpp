// A table in the model of MariaDB: its columns, its unique keys and its rows.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/mysql/model/cell.hpp"
#include "tests/sim/mysql/model/lexer.hpp"

namespace holdfast::sim {

using sql_cells = std::vector<sql_cell>;

class sql_table {
 public:
  struct column_terms {
    std::string name;
    sql_cell::kind holds = sql_cell::text;
    // As information_schema reports them; empty: it has none.
    std::string type{}, digits_of_second{}, character_set{};
  };

  // After the name of CREATE TABLE.
  explicit sql_table(sql_words&);

  std::size_t column(const std::string& name) const;  // throws unknown_sql
  std::size_t columns() const noexcept { return columns_.size(); }
  const std::vector<column_terms>& terms() const noexcept { return columns_; }
  // Columns of each unique key, and of that which is the primary one.
  const std::vector<std::vector<std::size_t>>& unique_keys() const noexcept { return unique_; }
  const std::vector<std::size_t>& primary_key() const noexcept { return primary_; }
  // As it is stored in that column.
  sql_cell stored(std::size_t column, const sql_cell&) const;
  // The row that has one unique key in common with these cells.
  std::optional<std::size_t> duplicate_of(const sql_cells&) const;
  // With the next number of an AUTO_INCREMENT column that is NULL. An INSERT that has no effect
  // uses up a number too.
  void count(sql_cells&);

  std::vector<sql_cells> rows;

 private:
  void read_part(sql_words&);
  void read_column(sql_words&);
  std::vector<std::size_t> read_key(sql_words&) const;

  std::vector<column_terms> columns_;
  std::vector<std::vector<std::size_t>> unique_;
  std::vector<std::size_t> primary_;
  std::optional<std::size_t> counted_;  // AUTO_INCREMENT
  std::int64_t next_number_ = 1;
};

}  // namespace holdfast::sim
