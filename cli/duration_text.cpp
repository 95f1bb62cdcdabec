#include "cli/duration_text.hpp"

#include <charconv>
#include <cstdint>

namespace holdfast::cli {
namespace {

// 0 for a unit that there is not.
double seconds_of_unit(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "m") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 24 * 3600;
  return 0;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789.");
  const auto number = text.substr(0, end);
  const auto unit = end == text.npos ? std::string_view{} : text.substr(end);
  const double scale = seconds_of_unit(unit);
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value,
                                             std::chars_format::fixed);
  if (scale == 0 || error != std::errc{} || stop != number.data() + number.size()) return {};
  const double nanoseconds = value * scale * 1e9 + 0.5;
  if (!(nanoseconds < 9.2e18)) return {};
  return std::chrono::nanoseconds{static_cast<std::int64_t>(nanoseconds)};
}

std::string seconds(std::chrono::nanoseconds d) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 == 0) return text;
  text += '.' + std::to_string(1000 + ms % 1000).substr(1);
  while (text.back() == '0') text.pop_back();
  return text;
}

std::string spoken(std::chrono::nanoseconds d) {
  using namespace std::chrono;
  if (d < std::chrono::seconds{1}) return seconds(floor<milliseconds>(d) / 100 * 100) + " s";
  const auto whole = floor<std::chrono::seconds>(d).count();
  if (whole < 120) return std::to_string(whole) + " s";
  if (whole < 7200) return std::to_string(whole / 60) + " min";
  return std::to_string(whole / 3600) + " h";
}

}  // namespace holdfast::cli
