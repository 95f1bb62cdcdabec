#include "backend/redis/slots.hpp"

#include <array>
#include <memory>

namespace holdfast::redis {

namespace {

// CRC-16/XMODEM, as the specification has it: the remainder of each byte.
constexpr std::array<std::uint16_t, 256> remainders = [] {
  std::array<std::uint16_t, 256> out{};
  for (unsigned byte = 0; byte < out.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int i = 0; i < 8; ++i) crc = (crc & 0x8000) ? crc << 1 ^ 0x1021 : crc << 1;
    out[byte] = static_cast<std::uint16_t>(crc);
  }
  return out;
}();

std::uint16_t crc16(std::string_view text) noexcept {
  unsigned crc = 0;
  for (const char c : text)
    crc = (crc << 8 ^ remainders[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xff]) & 0xffff;
  return static_cast<std::uint16_t>(crc);
}

constexpr std::size_t tag_size = 3;
using tags = std::array<std::array<char, tag_size>, slot_count>;

// All tags of three characters in turn, until each slot has one.
std::unique_ptr<const tags> made_tags() {
  constexpr std::string_view characters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  auto out = std::make_unique<tags>();
  std::size_t missing = slot_count;
  for (const char a : characters)
    for (const char b : characters)
      for (const char c : characters) {
        auto& tag = (*out)[crc16({std::array{a, b, c}.data(), tag_size}) % slot_count];
        if (tag[0] != '\0') continue;
        tag = {a, b, c};
        if (--missing == 0) return out;
      }
  return out;
}

}  // namespace

std::string_view hashed_part(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

slot_number slot_of(std::string_view key) noexcept {
  return static_cast<slot_number>(crc16(hashed_part(key)) % slot_count);
}

std::string_view fault_in_cluster(std::string_view lock_key) noexcept {
  const std::string_view part = hashed_part(lock_key);
  if (part.size() < lock_key.size() || part.find('}') == part.npos) return {};
  return "a cluster cannot keep the keys of this lock together, because of the '}' in its name; "
         "leave that out, or put a part of the name in braces";
}

std::string_view tag_of_slot(slot_number slot) noexcept {
  static const std::unique_ptr<const tags> all = made_tags();
  return {(*all)[slot].data(), tag_size};
}

}  // namespace holdfast::redis
