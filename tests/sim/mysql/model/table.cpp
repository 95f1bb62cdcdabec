#include "tests/sim/mysql/model/table.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace holdfast::sim {

sql_table::sql_table(sql_words& w) {
  w.require("(");
  do {
    read_part(w);
  } while (w.skip(","));
  w.require(")");
}

std::vector<std::size_t> sql_table::read_key(sql_words& w) const {
  std::vector<std::size_t> out;
  w.require("(");
  do {
    out.push_back(column(w.take_name()));
  } while (w.skip(","));
  w.require(")");
  return out;
}

void sql_table::read_part(sql_words& w) {
  const bool is_primary = w.skip("PRIMARY"), is_unique = !is_primary && w.skip("UNIQUE");
  if (!w.skip("KEY")) return read_column(w);
  if (!w.is_next("(")) w.take_name();
  std::vector<std::size_t> key = read_key(w);
  if (is_primary) primary_ = key;
  if (is_primary || is_unique) unique_.push_back(std::move(key));
}

void sql_table::read_column(sql_words& w) {
  column_terms& c = columns_.emplace_back();
  c.name = w.take_name();
  const std::string type = w.take_name();
  for (const char letter : type) c.type += static_cast<char>(std::tolower(letter));
  const bool is_time = type == "DATETIME" || type == "TIMESTAMP";
  c.holds = is_time ? sql_cell::time : type.starts_with("VAR") ? sql_cell::text : sql_cell::number;
  if (is_time && w.skip("(")) {
    c.digits_of_second = w.take().as;
    w.require(")");
  }
  while (!w.is_next(",") && !w.is_next(")")) {
    if (w.is_next("(")) {
      w.skip_parentheses();
    } else if (w.skip("PRIMARY")) {
      w.require("KEY");
      primary_ = {columns_.size() - 1};
      unique_.push_back(primary_);
    } else if (w.skip("CHARACTER")) {
      w.require("SET");
      c.character_set = w.take_name();
    } else if (w.skip("AUTO_INCREMENT")) {
      counted_ = columns_.size() - 1;
    } else {
      w.take();
    }
  }
}

std::size_t sql_table::column(const std::string& name) const {
  const auto found = std::ranges::find(columns_, name, &column_terms::name);
  if (found == columns_.end()) throw unknown_sql("the column " + name);
  return static_cast<std::size_t>(found - columns_.begin());
}

sql_cell sql_table::stored(std::size_t column, const sql_cell& c) const {
  if (columns_[column].holds != sql_cell::time || c.is != sql_cell::text) return c;
  const auto read = time_of(c.bytes);
  if (!read) throw unknown_sql("a time as text: " + c.bytes);
  return time_cell(*read);
}

std::optional<std::size_t> sql_table::duplicate_of(const sql_cells& cells) const {
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& key : unique_)
      if (std::ranges::all_of(key, [&](std::size_t c) { return rows[i][c] == cells[c]; })) return i;
  return std::nullopt;
}

void sql_table::count(sql_cells& cells) {
  if (counted_ && cells[*counted_].is == sql_cell::null)
    cells[*counted_] = number_cell(next_number_++);
}

}  // namespace holdfast::sim
