// The text of a statement with its values.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

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

// A name of a table or a column that this library puts into its statements: 1 to 64 letters, digits
// and underscores.
bool is_identifier(std::string_view) noexcept;

}  // namespace holdfast::mysql
