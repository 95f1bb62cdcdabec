#include "cli/utf8.hpp"

namespace holdfast::cli {

code_point first_code_point(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {not_utf8, 1};
  std::uint32_t code = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {not_utf8, 1};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return {not_utf8, 1};
  return {code, size};
}

bool steers_a_terminal(std::uint32_t c) noexcept {
  const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
  const bool line_end = c == 0x2028 || c == 0x2029;
  const bool direction = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
                         (c >= 0x2066 && c <= 0x2069);
  return control || line_end || direction;
}

int columns(std::uint32_t code) noexcept { return code < 0x1100 ? 1 : 2; }

std::string_view fitting(std::string_view text, int width) noexcept {
  std::size_t end = 0;
  while (end < text.size()) {
    const auto [code, size] = first_code_point(text.substr(end));
    width -= columns(code);
    if (width < 0) break;
    end += size;
  }
  return text.substr(0, end);
}

}  // namespace holdfast::cli
