#include "backend/redis/layouts/redisson/names.hpp"

#include <algorithm>
#include <limits>

#include "base/uuid.hpp"

namespace holdfast::redis::redisson {

namespace {

bool has_braces(std::string_view key) noexcept { return key.find('{') != key.npos; }

}  // namespace

std::string uuid_of(const retrying_owner& random) {
  return core::text_of(core::version_4({random.high, random.low}));
}

std::string new_client_id(core::environment& env) { return core::text_of(core::random_uuid(env)); }

std::string owner_of(std::string_view client_id, const retrying_owner& o) {
  constexpr auto java_long_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return std::string(client_id) + ':' +
         std::to_string(std::max<std::uint64_t>(o.low & java_long_max, 1));
}

bool is_owner(std::string_view text) noexcept {
  constexpr std::size_t thread_at = core::uuid_length + 1;
  if (text.size() <= thread_at || !core::begins_with_uuid(text)) return false;
  return text[core::uuid_length] == ':' && text[thread_at] >= '0' && text[thread_at] <= '9';
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
