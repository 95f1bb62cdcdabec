// The parts of a statement on the program's own tables: names, values and lists of both.
#pragma once
#include <holdfast/mysql.hpp>

#include <string>
#include <string_view>

namespace holdfast::guards {

// Quoted by backticks. Throws lock_error (bad_name).
std::string quoted_name(std::string_view name, std::string_view operation);
// "table" or "database.table".
std::string quoted_table(std::string_view name, std::string_view operation);

// A literal that is read in the same way under every sql_mode and character set. Text is a literal
// of utf8mb4, so that it is compared in the column's own collation and finds its index. Throws
// lock_error (bad_option): not a finite number.
std::string literal(const sql_value&);
std::string text_literal(std::string_view text);

std::string assignments(const sql_columns&, std::string_view operation);  // a=1, b=2
std::string conditions(const sql_columns&, std::string_view operation);   // a=1 AND b=2

// Throws lock_error (bad_option) when `columns` has the name.
void refuse_column(const sql_columns& columns, std::string_view name, std::string_view operation);

}  // namespace holdfast::guards
