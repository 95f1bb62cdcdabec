// The checker's findings about a history, as text for its tests.
#pragma once
#include <array>
#include <string>

#include "history/checker.hpp"

namespace holdfast::history {

// The faults, and the lines that conflict: "overlap:1,3 token:2,4".
inline std::string found(const std::string& text, const check_options& options = {}) {
  constexpr std::array words{"overlap", "deadline", "revived", "token",
                             "stale",   "wake-up",  "permits", "group"};
  std::string all;
  for (const auto& v : check(parse_history(text).records, options)) {
    if (!all.empty()) all += " ";
    all += words.at(static_cast<std::size_t>(v.what));
    all += ":" + std::to_string(v.first.line) + "," + std::to_string(v.second.line);
  }
  return all;
}

}  // namespace holdfast::history
