#include "tests/sim/mysql/model/lexer.hpp"

#include <cctype>
#include <utility>

namespace holdfast::sim {

namespace {

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

int digit_of(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

}  // namespace

std::string unhexed(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(digit_of(digits[i]) * 16 + digit_of(digits[i + 1]));
  return out;
}

sql_words::sql_words(std::string_view s) {
  const auto until = [&](std::size_t& at, char end) {
    std::string out;
    while (at < s.size() && s[at] != end) out += s[at++];
    ++at;
    return out;
  };
  for (std::size_t at = 0; at < s.size();) {
    const char c = s[at];
    if (c == ' ') {
      ++at;
    } else if (s.substr(at).starts_with("/*M!")) {  // a comment that MariaDB executes
      at += 4;
    } else if (s.substr(at).starts_with("*/")) {
      at += 2;
    } else if (c == '`') {
      all_.push_back({sql_word::quoted_name, until(++at, '`')});
    } else if (c == '\'') {
      all_.push_back({sql_word::text, until(++at, '\'')});
    } else if (c == 'x' && s.substr(at).starts_with("x'")) {
      at += 2;
      all_.push_back({sql_word::text, unhexed(until(at, '\''))});
    } else if (is_letter(c)) {
      std::string word;
      while (at < s.size() && is_letter(s[at])) word += s[at++];
      const bool is_number = std::isdigit(static_cast<unsigned char>(word[0])) != 0;
      if (word != "_utf8mb4")
        all_.push_back({is_number ? sql_word::number : sql_word::name, std::move(word)});
    } else {
      const std::string_view two = s.substr(at, 2);
      const bool is_pair = two == "<=" || two == ">=" || two == "<>";
      all_.push_back({sql_word::sign, std::string(s.substr(at, is_pair ? 2 : 1))});
      at += is_pair ? 2 : 1;
    }
  }
  all_.emplace_back();
}

sql_word sql_words::take() {
  sql_word out = next();
  if (!is_at_end()) ++at_;
  return out;
}

bool sql_words::is_next(std::string_view word) const noexcept {
  const bool may_be = next().is == sql_word::name || next().is == sql_word::sign;
  return may_be && next().as == word;
}

bool sql_words::skip(std::string_view word) {
  if (!is_next(word)) return false;
  ++at_;
  return true;
}

void sql_words::require(std::string_view word) {
  if (!skip(word)) throw unknown_sql("expected " + std::string(word) + " before " + next().as);
}

std::string sql_words::take_name() {
  if (next().is != sql_word::name && next().is != sql_word::quoted_name)
    throw unknown_sql("expected a name before " + next().as);
  return take().as;
}

void sql_words::skip_parentheses() {
  require("(");
  for (int depth = 1; depth > 0;) {
    if (is_at_end()) throw unknown_sql("a parenthesis is open");
    depth += is_next("(") ? 1 : is_next(")") ? -1 : 0;
    ++at_;
  }
}

}  // namespace holdfast::sim
