#include "tests/sim/mysql/model/expression.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <utility>

namespace holdfast::sim {

std::optional<std::int64_t> time_of(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const char* const at = text.data();
  std::from_chars(at, at + 4, year);
  std::from_chars(at + 5, at + 7, month);
  std::from_chars(at + 8, at + 10, day);
  const std::chrono::sys_days days =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return std::chrono::microseconds(days.time_since_epoch()).count();
}

std::string text_of_time(std::int64_t us) {
  using namespace std::chrono;
  const microseconds all(us);
  const sys_days day(floor<days>(all));
  const year_month_day date(day);
  const hh_mm_ss clock(all - day.time_since_epoch());
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02u-%02u %02d:%02d:%02d.%06d", int{date.year()},
                unsigned{date.month()}, unsigned{date.day()},
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return out;
}

namespace {

std::int64_t as_time(const sql_cell& c) {
  if (c.is != sql_cell::text) return c.value;
  const std::optional<std::int64_t> read = time_of(c.bytes);
  if (!read) throw unknown_sql("a time as text: " + c.bytes);
  return *read;
}

sql_cell truth(bool b) { return number_cell(b ? 1 : 0); }

// As bytes: % stands for any of them, _ for one, and the escape character for the one after it.
bool matches_pattern(std::string_view text, std::string_view pattern, char escape) {
  if (pattern.empty()) return text.empty();
  const char next = pattern.front();
  pattern.remove_prefix(1);
  if (next == '%') {
    for (std::size_t i = 0; i <= text.size(); ++i)
      if (matches_pattern(text.substr(i), pattern, escape)) return true;
    return false;
  }
  if (text.empty()) return false;
  const char first = text.front();
  text.remove_prefix(1);
  if (next == '_') return matches_pattern(text, pattern, escape);
  if (next != escape || pattern.empty())
    return next == first && matches_pattern(text, pattern, escape);
  return pattern.front() == first && matches_pattern(text, pattern.substr(1), escape);
}

}  // namespace

sql_expression sql_expression::of(operation o, std::string name,
                                  std::vector<sql_expression> parts) {
  sql_expression out(o);
  out.name_ = std::move(name);
  out.parts_ = std::move(parts);
  return out;
}

// Operations of equal rank, from left to right.
sql_expression sql_expression::parse_chain(sql_words& w, sql_expression (*part)(sql_words&),
                                           std::initializer_list<chain_word> words) {
  sql_expression out = part(w);
  for (;;) {
    const auto next =
        std::ranges::find_if(words, [&](const chain_word& c) { return w.skip(c.word); });
    if (next == words.end()) return out;
    out = of(next->means, {}, {std::move(out), part(w)});
  }
}

sql_expression sql_expression::parse(sql_words& w) {
  return parse_chain(w, parse_and, {{"OR", operation::either}});
}

sql_expression sql_expression::parse_and(sql_words& w) {
  return parse_chain(w, parse_not, {{"AND", operation::both}});
}

sql_expression sql_expression::parse_not(sql_words& w) {
  if (w.skip("NOT")) return of(operation::negation, {}, {parse_not(w)});
  return parse_comparison(w);
}

sql_expression sql_expression::parse_comparison(sql_words& w) {
  sql_expression left = parse_sum(w);
  if (w.skip("IN")) {
    std::vector<sql_expression> parts = parse_list(w);
    parts.insert(parts.begin(), std::move(left));
    return of(operation::is_in, {}, std::move(parts));
  }
  if (w.skip("LIKE")) {
    sql_expression pattern = parse_sum(w);
    w.require("ESCAPE");
    return of(operation::like, w.take().as, {std::move(left), std::move(pattern)});
  }
  for (const char* sign : {"=", "<=", ">=", "<>", "<", ">"})
    if (w.skip(sign)) return of(operation::comparison, sign, {std::move(left), parse_sum(w)});
  return left;
}

sql_expression sql_expression::parse_sum(sql_words& w) {
  return parse_chain(w, parse_product, {{"+", operation::sum}, {"-", operation::difference}});
}

sql_expression sql_expression::parse_product(sql_words& w) {
  if (w.skip("INTERVAL")) {
    sql_expression length = parse_product(w);
    w.require("MICROSECOND");
    return of(operation::interval, {}, {std::move(length)});
  }
  return parse_chain(w, parse_primary, {{"*", operation::product}, {"DIV", operation::quotient}});
}

sql_expression sql_expression::parse_primary(sql_words& w) {
  if (w.skip("(")) {
    sql_expression out = parse(w);
    w.require(")");
    return out;
  }
  const bool is_negative = w.skip("-");
  const sql_word word = w.take();
  sql_expression literal(operation::literal);
  switch (word.is) {
    case sql_word::number:
      literal.literal_ = number_cell((is_negative ? -1 : 1) * std::stoll(word.as));
      return literal;
    case sql_word::text: literal.literal_ = text_cell(word.as); return literal;
    case sql_word::name:
      if (w.is_next("(")) return parse_call(w, word.as);
      if (word.as == "NULL") return literal;
      if (word.as == "TRUE") {
        literal.literal_ = truth(true);
        return literal;
      }
      break;
    case sql_word::quoted_name: break;
    default: throw unknown_sql("an expression begins with " + word.as);
  }
  sql_expression out = of(operation::column, word.as, {});
  if (!w.skip(".")) return out;
  out.table_ = word.as;
  out.name_ = w.take_name();
  return out;
}

std::vector<sql_expression> sql_expression::parse_list(sql_words& w) {
  std::vector<sql_expression> out;
  w.require("(");
  while (!w.is_next(")")) {
    out.push_back(parse(w));
    if (!w.skip(",")) break;
  }
  w.require(")");
  return out;
}

sql_expression sql_expression::parse_call(sql_words& w, std::string name) {
  return of(operation::call, std::move(name), parse_list(w));
}

sql_cell sql_expression::compare(const std::string& sign, const sql_cell& a, const sql_cell& b) {
  if (a.is == sql_cell::null || b.is == sql_cell::null) return {};
  std::strong_ordering order = std::strong_ordering::equal;
  if (a.is == sql_cell::time || b.is == sql_cell::time) {
    order = as_time(a) <=> as_time(b);
  } else if (a.is == sql_cell::text && b.is == sql_cell::text) {
    order = a.bytes <=> b.bytes;
  } else if (a.is == sql_cell::number && b.is == sql_cell::number) {
    order = a.value <=> b.value;
  } else {
    throw unknown_sql("a number is compared with a text");
  }
  if (sign == "=") return truth(order == 0);
  if (sign == "<>") return truth(order != 0);
  if (sign == "<=") return truth(order <= 0);
  if (sign == ">=") return truth(order >= 0);
  return truth(sign == "<" ? order < 0 : order > 0);
}

sql_cell sql_expression::like(const sql_cell& text, const sql_cell& pattern) const {
  if (text.is == sql_cell::null || pattern.is == sql_cell::null) return {};
  return truth(matches_pattern(text.bytes, pattern.bytes, name_.at(0)));
}

// A part that decides alone ends the evaluation, as in the server: LAST_INSERT_ID() has an effect.
sql_cell sql_expression::value(const sql_scope& s) const {
  const auto part = [&](std::size_t i) { return parts_.at(i).value(s); };
  switch (is_) {
    case operation::literal: return literal_;
    case operation::column: return s.column(table_, name_);
    case operation::call: return call(s);
    case operation::either: return truth(part(0).is_true() || part(1).is_true());
    case operation::both: return truth(part(0).is_true() && part(1).is_true());
    case operation::negation: return truth(!part(0).is_true());
    case operation::comparison: return compare(name_, part(0), part(1));
    case operation::interval: return part(0);
    case operation::like: return like(part(0), part(1));
    case operation::is_in: {
      for (std::size_t i = 1; i < parts_.size(); ++i)
        if (compare("=", part(0), part(i)).is_true()) return truth(true);
      return truth(false);
    }
    default: break;
  }
  sql_cell left = part(0);
  const sql_cell right = part(1);
  if (left.is == sql_cell::null || right.is == sql_cell::null) return {};
  if (is_ == operation::product) {
    left.value *= right.value;
  } else if (is_ == operation::quotient) {
    left.value /= right.value;
  } else {
    left.value += is_ == operation::sum ? right.value : -right.value;
  }
  return left;
}

sql_cell sql_expression::call(const sql_scope& s) const {
  const auto part = [&](std::size_t i) { return parts_.at(i).value(s); };
  if (name_ == "UTC_TIMESTAMP") return time_cell(s.now);
  if (name_ == "IF") return part(0).is_true() ? part(1) : part(2);
  if (name_ == "GREATEST") {
    const sql_cell a = part(0), b = part(1);
    return a.value < b.value ? b : a;
  }
  if (name_ == "LAST_INSERT_ID") {
    const sql_cell out = part(0);
    s.last_insert_id = out.value;
    return out;
  }
  if (name_ == "TIMESTAMPDIFF") {
    constexpr std::int64_t us_of_hour = 3'600'000'000;
    const std::string& unit = parts_.at(0).name_;
    if (unit != "MICROSECOND" && unit != "HOUR") throw unknown_sql("TIMESTAMPDIFF(" + unit);
    const sql_cell from = part(1), to = part(2);
    if (from.is == sql_cell::null || to.is == sql_cell::null) return {};
    return number_cell((as_time(to) - as_time(from)) / (unit == "HOUR" ? us_of_hour : 1));
  }
  throw unknown_sql("the function " + name_);
}

}  // namespace holdfast::sim
