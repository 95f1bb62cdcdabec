#include "base/uuid.hpp"

namespace holdfast::base {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

constexpr bool is_dash_at(std::size_t i) noexcept {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

std::string text_of(const uuid& u) {
  std::string out(uuid_length, '-');
  std::size_t at = 0;
  for (const std::uint64_t half : {u.high, u.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (is_dash_at(at)) ++at;
      out[at++] = digits[half >> shift & 15];
    }
  }
  return out;
}

bool begins_with_uuid(std::string_view text) noexcept {
  if (text.size() < uuid_length) return false;
  for (std::size_t i = 0; i < uuid_length; ++i) {
    if (is_dash_at(i) ? text[i] != '-' : digits.find(text[i]) == digits.npos) return false;
  }
  return true;
}

uuid version_4(uuid random) noexcept {
  constexpr std::uint64_t version_mask = 0xf000, version = 0x4000;
  constexpr std::uint64_t variant_mask = 3ull << 62, variant = 2ull << 62;
  return {(random.high & ~version_mask) | version, (random.low & ~variant_mask) | variant};
}

uuid random_uuid(environment& env) {
  return version_4({.high = random_u64(env), .low = random_u64(env)});
}

}  // namespace holdfast::base
