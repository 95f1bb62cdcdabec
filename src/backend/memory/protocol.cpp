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

}  // namespace holdfast::memory
