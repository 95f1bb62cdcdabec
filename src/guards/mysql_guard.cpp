#include <utility>

#include "base/fail.hpp"
#include "base/mutant.hpp"
#include "guards/mysql_session.hpp"
#include "guards/mysql_text.hpp"

namespace holdfast::inline v0 {
namespace {

using base::mutant;
using base::planted;

// Compared byte by byte: the collation of a text column may take two owners for one.
std::string is_owner(const std::string& column, std::string_view owner) {
  return "CAST(" + column + " AS BINARY)=CAST(" + guards::text_literal(owner) + " AS BINARY)";
}

void require_row(const mysql_connection& where, const guarded_row& row) {
  const auto found = guards::run(where, "write",
                                 "SELECT 1 FROM " + guards::quoted_table(row.table, "write") +
                                     " WHERE " + guards::conditions(row.key, "write"),
                                 guards::sql_effect::reads);
  if (found.rows.empty())
    base::fail(errc::mismatch, "write",
               "there is no row with that key; insert it before its first holder writes",
               row.table);
}

}  // namespace

mysql_guard::mysql_guard(mysql_connection where, guarded_row row, fencing comparison)
    : where_(std::move(where)), row_(std::move(row)), comparison_(comparison) {
  if (row_.key.empty())
    base::fail(errc::bad_option, "mysql_guard",
               "the key is empty; name the columns of the row's "
               "primary key",
               row_.table);
  guards::quoted_table(row_.table, "mysql_guard");
  guards::quoted_name(row_.token_column, "mysql_guard");
  guards::quoted_name(row_.owner_column, "mysql_guard");
  guards::conditions(row_.key, "mysql_guard");
}

// LAST_INSERT_ID(n) marks the rows that the WHERE clause matched. The number of affected rows does
// not: it is 0 for a row that already has all the values, unless CLIENT_FOUND_ROWS is set.
bool mysql_guard::write(std::int64_t token, std::string_view owner, const sql_columns& values) {
  const bool is_ordered = comparison_ == fencing::ordered;
  if (is_ordered && token <= 0) return false;
  for (const auto& [name, value] : row_.key) guards::refuse_column(values, name, "write");
  guards::refuse_column(values, row_.token_column, "write");
  guards::refuse_column(values, row_.owner_column, "write");
  const std::string number = std::to_string(token);
  const std::string token_column = guards::quoted_name(row_.token_column, "write");
  const std::string owner_column = guards::quoted_name(row_.owner_column, "write");
  std::string statement = "UPDATE " + guards::quoted_table(row_.table, "write") + " SET ";
  if (is_ordered)
    statement += token_column + "=LAST_INSERT_ID(" + number + "), " + owner_column + '=' +
                 guards::text_literal(owner);
  else
    statement += owner_column + "=IF(LAST_INSERT_ID(1)=1, " + guards::text_literal(owner) + ", '')";
  if (!values.empty()) statement += ", " + guards::assignments(values, "write");
  statement += " WHERE " + guards::conditions(row_.key, "write") + " AND ";
  const std::string same_owner =
      planted(mutant::row_owner_ignored) ? "TRUE" : is_owner(owner_column, owner);
  if (is_ordered && !planted(mutant::row_token_ignored))
    statement += '(' + token_column + '<' + number + " OR (" + token_column + '=' + number +
                 " AND " + same_owner + "))";
  else
    statement += is_ordered ? "TRUE" : same_owner;
  const auto answer = guards::run(where_, "write", statement, guards::sql_effect::writes);
  if (answer.is_contended) guards::fail_contended("write");
  if (answer.insert_id != 0) return true;
  require_row(where_, row_);
  return false;
}

bool mysql_guard::write(std::int64_t token, std::string_view owner, const sql_columns& values,
                        std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return write(token, owner, values); });
}

void mysql_guard::set(std::string_view owner) {
  const std::string owner_column = guards::quoted_name(row_.owner_column, "set");
  const auto answer =
      guards::run(where_, "set",
                  "UPDATE " + guards::quoted_table(row_.table, "set") + " SET " + owner_column +
                      "=IF(LAST_INSERT_ID(1)=1, " + guards::text_literal(owner) + ", '') WHERE " +
                      guards::conditions(row_.key, "set"),
                  guards::sql_effect::writes);
  if (answer.is_contended) guards::fail_contended("set");
  if (answer.insert_id == 0) require_row(where_, row_);
}

void mysql_guard::set(std::string_view owner, std::error_code& ec) {
  base::in_either_form(&ec, [&] { set(owner); });
}

}  // namespace holdfast::inline v0
