#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::zookeeper {

namespace {

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace

std::string text_of_sequence(std::int32_t sequence) {
  std::string out(sequence_length, '0');
  for (std::size_t at = sequence_length; sequence > 0; sequence /= 10)
    out[--at] = static_cast<char>('0' + sequence % 10);
  return out;
}

std::optional<std::int32_t> read_sequence(std::string_view node) noexcept {
  if (node.size() < sequence_length) return {};
  const std::string_view text = node.substr(node.size() - sequence_length);
  std::int32_t out = 0;
  const bool is_number =
      std::ranges::all_of(text, is_digit) &&
      std::from_chars(text.data(), text.data() + sequence_length, out).ec == std::errc();
  return is_number ? std::optional(out) : std::nullopt;
}

}  // namespace holdfast::zookeeper
