#include "backend/memory/protocol.hpp"

#include "base/number.hpp"

namespace holdfast::memory {

std::string text_of(const owner_id& id) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint64_t half : {id.high, id.low})
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(half >> shift) & 15];
  return out;
}

std::optional<owner_id> owner_id_of(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  const auto high = base::whole_number<std::uint64_t>(text.substr(0, 16), 16);
  const auto low = base::whole_number<std::uint64_t>(text.substr(16), 16);
  if (!high || !low) return std::nullopt;
  return owner_id{*high, *low};
}

std::string group_text_of(std::int64_t number) { return 'g' + std::to_string(number); }

holder_seen holder_seen_of(std::string_view text) {
  holder_seen seen;
  if (text.starts_with('g')) {
    seen.group = base::whole_number<std::int64_t>(text.substr(1)).value_or(0);
    if (seen.group < 1) return {};
  } else if (const auto id = owner_id_of(text)) {
    seen.who = *id;
  }
  return seen;
}

}  // namespace holdfast::memory
