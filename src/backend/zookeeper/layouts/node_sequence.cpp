#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <charconv>

namespace holdfast::zookeeper {

// As "%010d": behind a sign there is one digit less, unless there are ten.
std::string text_of_sequence(std::int32_t sequence) {
  constexpr std::size_t width = 10;
  char digits[width + 1];
  const std::int64_t size = sequence < 0 ? -std::int64_t{sequence} : sequence;
  const auto [end, fault] = std::to_chars(digits, digits + sizeof digits, size);
  std::string out(sequence < 0 ? "-" : "");
  const std::size_t without = out.size() + static_cast<std::size_t>(end - digits);
  if (without < width) out.append(width - without, '0');
  return out.append(digits, end);
}

std::optional<std::int32_t> read_sequence(std::string_view text) noexcept {
  std::int32_t out = 0;
  const char* const end = text.data() + text.size();
  const auto [last, fault] = std::from_chars(text.data(), end, out);
  if (fault != std::errc() || last != end || text_of_sequence(out) != text) return {};
  return out;
}

}  // namespace holdfast::zookeeper
