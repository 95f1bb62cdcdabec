#include "cli/option_values.hpp"

#include <charconv>

#include "cli/duration_text.hpp"

namespace holdfast::cli {

std::chrono::nanoseconds duration_of(std::string_view what, std::string_view text) {
  if (const auto d = parse_duration(text)) return *d;
  throw usage_error(std::string(what) + " '" + std::string(text) +
                    "' is no duration; give seconds as 30 or 1.5, or a unit as 500ms, 2m, 1h");
}

std::uint32_t number_of(std::string_view what, std::string_view text, std::uint32_t least,
                        std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most)
    return number;
  throw usage_error(std::string(what) + " '" + std::string(text) + "' is no number from " +
                    std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace holdfast::cli
