#include "tests/sim/redis/model/number_text.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace holdfast::sim {
namespace {

// Takes one [...] off the front of `pattern`, which starts after the bracket.
bool class_has(std::string_view& pattern, char c) {
  bool negated = false, found = false;
  if (!pattern.empty() && pattern.front() == '^') {
    negated = true;
    pattern.remove_prefix(1);
  }
  while (!pattern.empty() && pattern.front() != ']') {
    if (pattern.front() == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
    if (pattern.size() > 2 && pattern[1] == '-') {
      const auto [low, high] = std::minmax(pattern[0], pattern[2]);
      found = found || (low <= c && c <= high);
      pattern.remove_prefix(3);
    } else {
      found = found || pattern.front() == c;
      pattern.remove_prefix(1);
    }
  }
  if (!pattern.empty()) pattern.remove_prefix(1);
  return found != negated;
}

}  // namespace

std::optional<long long> whole_number(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
  if (digits.front() == '0' && text.size() > 1) return std::nullopt;
  long long n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return n;
}

std::optional<double> real_number(std::string_view text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front()))) return std::nullopt;
  const std::string ended(text);
  char* end = nullptr;
  errno = 0;
  const double d = std::strtod(ended.c_str(), &end);
  if (end != ended.c_str() + ended.size() || std::isnan(d)) return std::nullopt;
  if (errno == ERANGE && (std::isinf(d) || d == 0)) return std::nullopt;
  return d;
}

std::string_view digits_of(double d, digits_buffer& buffer) {
  constexpr double plain_digits = 1e17;
  char* const begin = buffer.data();
  if (std::abs(d) < plain_digits && d == std::trunc(d) && !(d == 0 && std::signbit(d)))
    return {begin, std::to_chars(begin, begin + buffer.size(), static_cast<long long>(d)).ptr};
  constexpr auto form = std::chars_format::general;  // as printf's %.17g
  return {begin, std::to_chars(begin, begin + buffer.size(), d, form, 17).ptr};
}

bool same_word(std::string_view word, std::string_view lower_case) {
  if (word.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(word[i])) != lower_case[i]) return false;
  return true;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  while (!pattern.empty()) {
    const char p = pattern.front();
    pattern.remove_prefix(1);
    if (p == '*') {
      for (;; text.remove_prefix(1)) {
        if (matches_glob(pattern, text)) return true;
        if (text.empty()) return false;
      }
    }
    if (text.empty()) return false;
    if (p == '[') {
      if (!class_has(pattern, text.front())) return false;
    } else if (p == '\\' && !pattern.empty()) {
      if (pattern.front() != text.front()) return false;
      pattern.remove_prefix(1);
    } else if (p != '?' && p != text.front()) {
      return false;
    }
    text.remove_prefix(1);
  }
  return text.empty();
}

}  // namespace holdfast::sim
