#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <cstdio>

#include "base/mutant.hpp"
#include "base/number.hpp"

namespace holdfast::zookeeper {

std::string text_of_sequence(std::int32_t sequence) {
  char out[16];
  std::snprintf(out, sizeof out, "%010d", sequence);
  return out;
}

std::optional<std::int32_t> read_sequence(std::string_view node, std::string_view begin) noexcept {
  if (!node.starts_with(begin)) return {};
  const std::string_view text = node.substr(begin.size());
  if (text.size() < sequence_length) return {};
  return base::whole_number<std::int32_t>(text);
}

bool is_in_order(std::optional<std::int32_t> sequence) noexcept {
  const bool is_low = sequence && *sequence >= 0 && *sequence < sequence_limit;
  return is_low || base::planted(base::mutant::sequence_limit_ignored);
}

}  // namespace holdfast::zookeeper
