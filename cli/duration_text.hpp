// Durations as people write and read them.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::cli {

// "500ms", "1.5s", "2m", "1h"; a bare number is seconds. Nothing for anything else: signs,
// exponents, infinities and what does not fit into 64-bit nanoseconds too.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

std::string spoken(std::chrono::nanoseconds d);   // "0.4 s", "12 s", "5 min", "3 h": for people
std::string seconds(std::chrono::nanoseconds d);  // "30", "1.5": for programs, and parse_duration()

}  // namespace holdfast::cli
