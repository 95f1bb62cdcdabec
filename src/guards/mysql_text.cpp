#include "guards/mysql_text.hpp"

#include <charconv>
#include <cmath>

#include "base/fail.hpp"

namespace holdfast::guards {
namespace {

constexpr std::size_t name_bytes_max = 64;

bool is_valid_name(std::string_view name) {
  if (name.empty() || name.size() > name_bytes_max || name.back() == ' ') return false;
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  return true;
}

std::string hexadecimal(const char* data, std::size_t size) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "x'";
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text += '\'';
}

std::string digits_of(double value) {
  if (!std::isfinite(value))
    base::fail(errc::bad_option, "write", "a column cannot store an infinity or a NaN");
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  return {text, end.ptr};
}

std::string joined(const sql_columns& columns, std::string_view between,
                   std::string_view operation) {
  std::string text;
  for (const auto& [name, value] : columns) {
    if (!text.empty()) text += between;
    text.append(quoted_name(name, operation)).append("=").append(literal(value));
  }
  return text;
}

}  // namespace

std::string quoted_name(std::string_view name, std::string_view operation) {
  if (!is_valid_name(name))
    base::fail(errc::bad_name, operation,
               "the name of a table or a column is not 1 to 64 bytes without control characters");
  std::string text = "`";
  for (const char c : name) text.append(c == '`' ? 2 : 1, c);
  return text += '`';
}

std::string quoted_table(std::string_view name, std::string_view operation) {
  const std::size_t dot = name.find('.');
  if (dot == name.npos) return quoted_name(name, operation);
  return quoted_name(name.substr(0, dot), operation) + '.' +
         quoted_name(name.substr(dot + 1), operation);
}

std::string text_literal(std::string_view text) {
  return "_utf8mb4 " + hexadecimal(text.data(), text.size());
}

std::string literal(const sql_value& value) {
  struct {
    std::string operator()(std::nullptr_t) const { return "NULL"; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return digits_of(number); }
    std::string operator()(const std::string& text) const { return text_literal(text); }
    std::string operator()(const std::vector<std::byte>& bytes) const {
      return hexadecimal(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  } const write;
  return std::visit(write, value);
}

std::string assignments(const sql_columns& columns, std::string_view operation) {
  return joined(columns, ", ", operation);
}

std::string conditions(const sql_columns& columns, std::string_view operation) {
  return joined(columns, " AND ", operation);
}

void refuse_column(const sql_columns& columns, std::string_view name, std::string_view operation) {
  if (columns.contains(name))
    base::fail(errc::bad_option, operation,
               "column \"" + std::string(name) + "\" is written by the call itself; leave it out");
}

}  // namespace holdfast::guards
