#include "base/uuid.hpp"

#include <cstdio>

namespace holdfast::core {

std::string text_of(const uuid& u) {
  char text[uuid_length + 1];
  const auto part = [](std::uint64_t of, int shift, unsigned mask) {
    return static_cast<unsigned>(of >> shift) & mask;
  };
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%04x%08x", part(u.high, 32, 0xffffffff),
                part(u.high, 16, 0xffff), part(u.high, 0, 0xffff), part(u.low, 48, 0xffff),
                part(u.low, 32, 0xffff), part(u.low, 0, 0xffffffff));
  return text;
}

bool begins_with_uuid(std::string_view text) noexcept {
  if (text.size() < uuid_length) return false;
  for (std::size_t i = 0; i < uuid_length; ++i) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    constexpr std::string_view digits = "0123456789abcdef";
    if (is_dash ? text[i] != '-' : digits.find(text[i]) == digits.npos) return false;
  }
  return true;
}

uuid version_4(uuid random) noexcept {
  constexpr std::uint64_t version_mask = 0xf000, version = 0x4000;
  constexpr std::uint64_t variant_mask = 3ull << 62, variant = 2ull << 62;
  return {(random.high & ~version_mask) | version, (random.low & ~variant_mask) | variant};
}

uuid random_uuid(environment& env) {
  uuid out;
  out.high = random_u64(env);
  out.low = random_u64(env);
  return version_4(out);
}

}  // namespace holdfast::core
