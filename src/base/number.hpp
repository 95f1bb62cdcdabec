// Numbers in the texts of servers, files and URLs.
#pragma once
#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace holdfast::base {

// The text as a whole; nothing: it is no number, or not one of this type.
template <std::integral Number>
std::optional<Number> whole_number(std::string_view text, int digits_base = 10) noexcept {
  Number out{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out, digits_base);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return out;
}

// The number at the beginning of the text, whatever follows; 0: there is none of this type.
template <std::integral Number>
Number leading_number(std::string_view text) noexcept {
  Number out{};
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace holdfast::base
