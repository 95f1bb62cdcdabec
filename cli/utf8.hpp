// Reading UTF-8 that others wrote.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::cli {

inline constexpr std::uint32_t not_utf8 = 0xffffffff;

struct code_point {
  std::uint32_t code;  // not_utf8: the first byte belongs to no character
  std::size_t size;    // bytes, at least 1
};

// `text` is not empty.
code_point first_code_point(std::string_view text) noexcept;

// Control characters, line ends and direction marks.
bool steers_a_terminal(std::uint32_t code) noexcept;

// The width of a character in terminal columns: 1 or 2, never too small.
int columns(std::uint32_t code) noexcept;

// As much of `text` as fits into so many columns.
std::string_view fitting(std::string_view text, int width) noexcept;

}  // namespace holdfast::cli
