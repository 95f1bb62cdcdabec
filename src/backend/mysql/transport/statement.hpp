// A statement and its values.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::mysql {

// A string stands for its bytes, whatever they are.
using sql_value = std::variant<std::int64_t, std::string_view>;

// Each ? of `text`, which is a constant of this library, is replaced by the next value: a number in
// decimal digits, a string as a hexadecimal literal. Such a literal is read in the same way under
// every sql_mode and character set, and no byte of it can end it.
std::string bound(std::string_view text, std::span<const sql_value> values);
inline std::string bound(std::string_view text, std::initializer_list<sql_value> values) {
  return bound(text, std::span(values.begin(), values.size()));
}

// A statement to be executed. One with values is prepared by a connection that executes it again.
class sql_statement {
 public:
  using value = std::variant<std::int64_t, std::string>;

  sql_statement() = default;
  sql_statement(const char* text) : text_(text) {}
  sql_statement(std::string text) noexcept : text_(std::move(text)) {}
  sql_statement(std::string text, std::initializer_list<sql_value>);  // as for bound()

  // It locks one row only, whose primary key is that value of it. Statements for different rows may
  // share a commit; one without a row shares none.
  sql_statement&& of_row(std::string_view key) &&;
  bool has_row() const noexcept { return row_ < values_.size(); }
  // The same statement for a transaction that has locked rows: it fails at once if it would have
  // to wait for its table. FLUSH TABLES WITH READ LOCK makes it wait, and waits for statements that
  // may wait for one of these rows; the server does not detect that deadlock. MySQL has no SET
  // STATEMENT and ignores the comment.
  sql_statement&& with_rows_locked() &&;
  const std::string& row() const { return std::get<std::string>(values_[row_]); }  // if it has one

  bool empty() const noexcept { return text_.empty(); }
  const std::string& with_marks() const noexcept { return text_; }  // a ? for each value
  const std::vector<value>& values() const noexcept { return values_; }
  std::string text() const;  // with its values as literals

 private:
  static constexpr std::size_t no_row = static_cast<std::size_t>(-1);

  std::string text_;
  std::vector<value> values_;
  std::size_t row_ = no_row;  // of the values
};

// A name of a table or a column that this library puts into its statements: 1 to 64 letters, digits
// and underscores.
bool is_identifier(std::string_view) noexcept;

}  // namespace holdfast::mysql
