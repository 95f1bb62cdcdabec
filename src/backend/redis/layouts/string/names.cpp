#include "backend/redis/layouts/string/names.hpp"

#include <endian.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/number.hpp"

namespace holdfast::redis {

namespace {

constexpr std::string_view side_prefix = "holdfast:";
constexpr std::string_view owner_prefixes[] = {"hf1:", "hfs:", "hfp:"};  // by lock_mode
constexpr std::string_view group_prefix = "hfg:";
constexpr std::size_t client_digits = 16;

// Eight digits, all in one step: the first in the highest byte.
constexpr std::uint64_t hex_of(std::uint64_t half) noexcept {
  std::uint64_t n = (half | half << 16) & 0x0000ffff0000ffff;
  n = (n | n << 8) & 0x00ff00ff00ff00ff;
  n = (n | n << 4) & 0x0f0f0f0f0f0f0f0f;
  const std::uint64_t is_letter = ((n + 0x0606060606060606) >> 4) & 0x0101010101010101;
  return n + 0x3030303030303030 + is_letter * ('a' - '0' - 10);
}

void write_hex(char* at, std::uint64_t n) noexcept {
  for (const std::uint64_t half : {n >> 32, n & 0xffffffff}) {
    const std::uint64_t digits = htobe64(hex_of(half));
    std::memcpy(at, &digits, sizeof digits);
    at += sizeof digits;
  }
}

bool read_hex(std::string_view text, std::uint64_t& out) noexcept {
  for (const char c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  const auto number = base::whole_number<std::uint64_t>(text, 16);
  out = number.value_or(out);
  return number.has_value();
}

}  // namespace

std::size_t side_key::size() const noexcept {
  return side_prefix.size() + 1 + tag.size() + 2 + lock.size() + 2;
}

void side_key::write_to(char* at) const noexcept {
  at += side_prefix.copy(at, side_prefix.size());
  *at++ = '{';
  at += tag.copy(at, tag.size());
  *at++ = '}';
  *at++ = ':';
  at += lock.copy(at, lock.size());
  *at++ = ':';
  *at = what;
}

std::string counter_of_slot(slot_number slot) {
  return std::string(side_prefix) + '{' + std::string(tag_of_slot(slot)) + "}:n";
}

std::string_view tag_of(std::string_view key) noexcept {
  const std::string_view part = hashed_part(key);
  return part.size() < key.size() || key.find('}') == key.npos ? part : std::string_view();
}

std::string_view key_fault(std::string_view key) noexcept {
  if (key.starts_with(side_prefix))
    return "names starting with \"holdfast:\" are reserved; choose another name, or add ?prefix=";
  return {};
}

std::optional<std::string_view> lock_of(std::string_view text) noexcept {
  const bool is_one = text.ends_with(":m") || text.ends_with(":q") || text.ends_with(":r");
  if (!text.starts_with(side_prefix) || !is_one) return std::nullopt;
  text.remove_prefix(side_prefix.size());
  text.remove_suffix(2);
  const std::size_t close = text.find("}:");
  if (!text.starts_with('{') || close == text.npos) return std::nullopt;
  const std::string_view tag = text.substr(1, close - 1), lock = text.substr(close + 2);
  if (tag_of(lock) != tag) return std::nullopt;
  return lock;
}

claim_id with_permits(claim_id id, std::uint32_t permits) noexcept {
  id.high = id.high >> 32 << 32 | permits;
  return id;
}

std::uint32_t permits_of(std::string_view owner) noexcept {
  constexpr std::size_t permits_at = 4 + client_digits + 1 + 8;
  std::uint64_t n = 0;
  if (owner.size() != owner_bytes || !read_hex(owner.substr(permits_at, 8), n)) return 1;
  return std::max(static_cast<std::uint32_t>(n), 1u);
}

owner_text text_of(std::uint64_t client, const claim_id& id, lock_mode mode) noexcept {
  owner_text out;
  owner_prefixes[static_cast<unsigned>(mode)].copy(out.data(), 4);
  write_hex(out.data() + 4, client);
  out[20] = ':';
  write_hex(out.data() + 21, id.high);
  write_hex(out.data() + 37, id.low);
  return out;
}

std::optional<claim_id> claim_of(std::uint64_t client, std::string_view owner) noexcept {
  const auto known = std::ranges::find(owner_prefixes, owner.substr(0, 4));
  if (owner.size() != owner_bytes || known == std::end(owner_prefixes) || owner[20] != ':')
    return std::nullopt;
  std::uint64_t whose = 0;
  claim_id id;
  if (!read_hex(owner.substr(4, client_digits), whose) || whose != client ||
      !read_hex(owner.substr(21, 16), id.high) || !read_hex(owner.substr(37), id.low))
    return std::nullopt;
  return id;
}

std::string group_of(std::int64_t number) {
  return std::string(group_prefix) + std::to_string(number);
}

std::optional<std::uint32_t> semaphore_total(std::string_view k) noexcept {
  const std::string_view prefix = owner_prefixes[static_cast<unsigned>(lock_mode::permit)];
  if (!k.starts_with(prefix)) return std::nullopt;
  return base::whole_number<std::uint32_t>(k.substr(prefix.size()));
}

std::string channel_of(std::uint64_t client) {
  std::string out = "hf:0000000000000000";
  write_hex(out.data() + 3, client);
  return out;
}

}  // namespace holdfast::redis
