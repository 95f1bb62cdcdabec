#include "backend/mysql/transport/statement.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "backend/mysql/transport/sql_connection.hpp"
#include "base/number.hpp"

namespace holdfast::mysql {

namespace {

void append(std::string& out, const sql_value& v) {
  if (const std::int64_t* const number = std::get_if<std::int64_t>(&v)) {
    out += std::to_string(*number);
    return;
  }
  constexpr std::string_view digits = "0123456789abcdef";
  out += "x'";
  for (const char c : std::get<std::string_view>(v)) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  out += '\'';
}

}  // namespace

std::string bound(std::string_view text, std::span<const sql_value> values) {
  std::string out;
  out.reserve(text.size() + values.size() * 24);
  auto next = values.begin();
  for (const char c : text) {
    if (c == '?' && next != values.end()) {
      append(out, *next++);
    } else {
      out += c;
    }
  }
  return out;
}

sql_statement::sql_statement(std::string text, std::initializer_list<sql_value> values)
    : text_(std::move(text)) {
  assert(std::ranges::count(text_, '?') <= std::ssize(values));
  values_.reserve(values.size());
  for (const sql_value& v : values) {
    const auto* const number = std::get_if<std::int64_t>(&v);
    values_.push_back(number ? value(*number) : value(std::string(std::get<std::string_view>(v))));
  }
}

sql_statement&& sql_statement::of_row(std::string_view key) && {
  const auto is_key = [&](const value& v) {
    const auto* const bytes = std::get_if<std::string>(&v);
    return bytes && *bytes == key;
  };
  row_ = static_cast<std::size_t>(std::ranges::find_if(values_, is_key) - values_.begin());
  return std::move(*this);
}

sql_statement&& sql_statement::with_rows_locked() && {
  text_.insert(0, "/*M! SET STATEMENT lock_wait_timeout=0 FOR */ ");
  return std::move(*this);
}

std::string sql_statement::text() const {
  std::vector<sql_value> all;
  all.reserve(values_.size());
  for (const value& v : values_) std::visit([&](const auto& of) { all.emplace_back(of); }, v);
  return bound(text_, all);
}

bool is_identifier(std::string_view text) noexcept {
  constexpr std::size_t longest = 64;  // of MySQL, in characters
  const auto may_be_in_one = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, may_be_in_one);
}

std::int64_t sql_reply::number(std::size_t row, std::size_t column) const noexcept {
  return base::whole_number<std::int64_t>(cell(row, column)).value_or(0);
}

}  // namespace holdfast::mysql
