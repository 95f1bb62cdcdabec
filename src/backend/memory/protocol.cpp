#include "backend/memory/protocol.hpp"

#include <charconv>

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
  const auto half = [](std::string_view part, std::uint64_t& out) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out, 16);
    return error == std::errc{} && end == part.data() + part.size();
  };
  owner_id id;
  if (!half(text.substr(0, 16), id.high) || !half(text.substr(16), id.low)) return std::nullopt;
  return id;
}

std::string group_text_of(std::int64_t number) { return 'g' + std::to_string(number); }

holder_seen holder_seen_of(std::string_view text) {
  holder_seen seen;
  if (text.starts_with('g')) {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 1, last, seen.group);
    if (error != std::errc{} || end != last || seen.group < 1) return {};
  } else if (const auto id = owner_id_of(text)) {
    seen.who = *id;
  }
  return seen;
}

}  // namespace holdfast::memory
