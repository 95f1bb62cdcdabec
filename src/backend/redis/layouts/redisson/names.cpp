#include "backend/redis/layouts/redisson/names.hpp"

#include <algorithm>
#include <limits>

namespace holdfast::redis::redisson {

namespace {

constexpr std::size_t client_id_bytes = 36;

bool is_dash(std::size_t at) noexcept { return at == 8 || at == 13 || at == 18 || at == 23; }

bool is_hex(char c) noexcept {
  return std::string_view("0123456789abcdef").find(c) != std::string_view::npos;
}

bool has_braces(std::string_view key) noexcept { return key.find('{') != key.npos; }

}  // namespace

std::string uuid_of(const retrying_owner& random) {
  const std::string digits = hex_of(random);
  std::string out;
  for (const char c : digits) {
    if (is_dash(out.size())) out += '-';
    out += c;
  }
  out[14] = '4';                                                  // the version
  out[19] = "89ab"[static_cast<unsigned>(random.low >> 60) & 3];  // the variant
  return out;
}

std::string new_client_id(core::environment& env) {
  retrying_owner random;
  random.high = core::random_u64(env);
  random.low = core::random_u64(env);
  return uuid_of(random);
}

std::string owner_of(std::string_view client_id, const retrying_owner& o) {
  constexpr auto java_long_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return std::string(client_id) + ':' +
         std::to_string(std::max<std::uint64_t>(o.low & java_long_max, 1));
}

bool is_owner(std::string_view text) noexcept {
  if (text.size() < client_id_bytes + 2 || text[client_id_bytes] != ':') return false;
  for (std::size_t i = 0; i < client_id_bytes; ++i)
    if (is_dash(i) ? text[i] != '-' : !is_hex(text[i])) return false;
  const char first = text[client_id_bytes + 1];
  return first >= '0' && first <= '9';
}

std::string prefixed(std::string_view prefix, std::string_view key) {
  std::string out(prefix);
  return has_braces(key) ? out.append(":").append(key) : out.append(":{").append(key).append("}");
}

std::string suffixed(std::string_view key, std::string_view suffix) {
  const std::string out = has_braces(key) ? std::string(key) : "{" + std::string(key) + "}";
  return (out + ':').append(suffix);
}

std::string name_fault(std::string_view name) {
  if (name.find('}') == name.npos || has_braces(name)) return {};
  return "a name with } and without { cannot be one of Redisson's locks: its keys would not lie "
         "together; leave the } out, or put a { before it";
}

}  // namespace holdfast::redis::redisson
