// A value in the model of MariaDB.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace holdfast::sim {

struct sql_cell {
  enum kind : unsigned char { null, number, text, time } is = null;
  std::int64_t value = 0;  // of a number; of a time: microseconds since 1970, UTC
  std::string bytes{};     // of a text

  bool operator==(const sql_cell&) const = default;
  bool is_true() const noexcept { return is == number && value != 0; }
};

inline sql_cell number_cell(std::int64_t n) { return {.is = sql_cell::number, .value = n}; }
inline sql_cell time_cell(std::int64_t us) { return {.is = sql_cell::time, .value = us}; }
inline sql_cell text_cell(std::string bytes) {
  return {.is = sql_cell::text, .bytes = std::move(bytes)};
}

// '1970-01-01', the only form of a time that the strategies write as text. {}: it is not one.
std::optional<std::int64_t> time_of(const std::string& text);
// '1970-01-01 00:00:00.000000', as the server shows it.
std::string text_of_time(std::int64_t us);

}  // namespace holdfast::sim
