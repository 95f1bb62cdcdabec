#include "backend/redis/layouts/redisson/family.hpp"

#include <algorithm>
#include <limits>

#include "backend/redis/server_time.hpp"
#include "base/uuid.hpp"

namespace holdfast::redis::redisson {

namespace {

bool has_braces(std::string_view key) noexcept { return key.find('{') != key.npos; }

}  // namespace

std::string uuid_of(const retrying_owner& random) {
  return base::text_of(base::version_4({random.high, random.low}));
}

std::string new_client_id(base::environment& env) { return base::text_of(base::random_uuid(env)); }

std::string owner_of(std::string_view client_id, const retrying_owner& o) {
  constexpr auto java_long_max = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return std::string(client_id) + ':' +
         std::to_string(std::max<std::uint64_t>(o.low & java_long_max, 1));
}

bool is_owner(std::string_view text) noexcept {
  constexpr std::size_t thread_at = base::uuid_length + 1;
  if (text.size() <= thread_at || !base::begins_with_uuid(text)) return false;
  return text[base::uuid_length] == ':' && text[thread_at] >= '0' && text[thread_at] <= '9';
}

std::string prefixed(std::string_view prefix, std::string_view key) {
  std::string out(prefix);
  return has_braces(key) ? out.append(":").append(key) : out.append(":{").append(key).append("}");
}

std::string suffixed(std::string_view key, std::string_view suffix) {
  const std::string out = has_braces(key) ? std::string(key) : "{" + std::string(key) + "}";
  return (out + ':').append(suffix);
}

std::string published(channel_kind kind, std::string channel) {
  const bool is_sharded = kind == channel_kind::sharded && !channel.empty();
  return is_sharded ? "sharded " + channel : channel;
}

std::string fair_queue_of(std::string_view key) { return prefixed("redisson_lock_queue", key); }

std::string name_fault(std::string_view name) {
  if (name.find('}') == name.npos || has_braces(name)) return {};
  return "a name with } and without { cannot be one of Redisson's locks: its keys would be in "
         "different slots; leave the } out, or put a { before it";
}

std::string counter_of(std::string_view key) { return prefixed("redisson_lock_token", key); }

std::string family_codec::name_fault(std::string_view name) const {
  return redisson::name_fault(name);
}

std::string family_codec::channel_at(std::string_view key) const {
  const std::string_view prefix = facts().channel_prefix;
  return prefix.empty() ? std::string() : prefixed(prefix, key);
}

std::string family_codec::published_channel(std::string_view key) const {
  return published(kind_of_channels(), channel_at(key));
}

bool lock_codec::is_owner(std::string_view text) const noexcept { return redisson::is_owner(text); }

retrying_reply lock_codec::read(const value& v, const lock_request&, retrying_reply r) const {
  const bool asks = r.to == retrying_operation::try_lock || r.to == retrying_operation::resolve;
  if (!asks || v.is(value::kind::error)) return read_compared(v, r);
  using verdict = retrying_reply::verdict;
  if (!v.is(value::kind::array) || v.size() != 2) return unreadable(r);
  const std::int64_t rest_or_number = v[1].integer();
  if (v[0].integer() != 1) {
    r.what = verdict::busy;
    r.rest = span_of(rest_or_number);
    return r;
  }
  if (rest_or_number < 1 || rest_or_number > number_max) return unreadable(r);
  r.what = verdict::granted;
  r.number = rest_or_number;
  return r;
}

std::vector<holder> lock_codec::read_holders_reply(const value& v) const {
  constexpr std::int64_t waiting_max = 1 << 30;
  std::vector<holder> out;
  const duration remaining = span_of(v.size() > 0 ? v[0].integer() : -1);
  for (std::size_t i = 2; i + 1 < v.size(); i += 2) {
    holder& h = out.emplace_back(holder_of(v[i].text(), remaining));
    h.waiting = static_cast<int>(std::clamp<std::int64_t>(v[1].integer(), -1, waiting_max));
  }
  return out;
}

}  // namespace holdfast::redis::redisson
