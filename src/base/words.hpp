// The parts of texts of servers, files and URLs.
#pragma once
#include <algorithm>
#include <string_view>

namespace holdfast::base {

// Takes the text before the first separator, or all of it; the separator is dropped.
inline std::string_view next_word(std::string_view& remaining, char separator = ' ') noexcept {
  const std::size_t end = std::min(remaining.find(separator), remaining.size());
  const std::string_view out = remaining.substr(0, end);
  remaining.remove_prefix(std::min(end + 1, remaining.size()));
  return out;
}

}  // namespace holdfast::base
