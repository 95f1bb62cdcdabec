#include "backend/redis/layouts/redisson_permits/codec.hpp"

#include <algorithm>

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"
#include "base/number.hpp"

namespace holdfast::redis::redisson_permits {

namespace {

constexpr std::size_t permit_bytes = 16, claim_bytes = 12;

constexpr error_meaning errors_of_scripts[] = {
    {"HFTYPE", errc::mismatch, false, false,
     "the key is not a semaphore with expiring permits; choose another name, or ?prefix="},
    {"HFTOTAL", errc::mismatch, false, false,
     "the total of a semaphore stays with its name; request the total that it has, or change it "
     "with setPermits() of Redisson"},
    {"HFMANY", errc::unsupported, false, false,
     "each permit is an entry of its own here: one acquire can have at most 1000"},
};

constexpr required_command commands[] = {
    {"type", "TYPE k"},
    {"get", "GET k"},
    {"set", "SET k v"},
    {"exists", "EXISTS k"},
    {"incrby", "INCRBY k 1"},
    {"zadd", "ZADD k 1 m"},
    {"zrem", "ZREM k m"},
    {"zrange", "ZRANGE k 0 0"},
    {"zscore", "ZSCORE k m"},
    {"zcard", "ZCARD k"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"publish", "PUBLISH c m"},
    {"subscribe", "SUBSCRIBE c"},
    {"spublish", "SPUBLISH c m", needed_for::messages_in_cluster},
    {"ssubscribe", "SSUBSCRIBE c", needed_for::messages_in_cluster},
    {"sunsubscribe", "SUNSUBSCRIBE c", needed_for::messages_in_cluster},
    {"scan", "SCAN 0", needed_for::inspection},
};

constexpr const script* loaded[] = {&scripts::try_lock, &scripts::release, &scripts::renew,
                                    &scripts::holders, &scripts::break_lock};

constexpr codec_facts facts_of_permits{
    .can = {.modes = seam::bit_of(lock_mode::permit),
            .tokens = false,
            .processes = true,
            .breakable = true},
    // A claim that has its permits is granted them again.
    .rules = {.has_channel = true, .try_is_idempotent = true},
    .loaded = loaded,
    .own_errors = errors_of_scripts,
    .needs = {.commands = commands, .channels = "redisson_sc:*"},
    .channel_prefix = "redisson_sc",
};

std::string permits_key(std::string_view key) { return redisson::suffixed(key, "timeout"); }

std::string bytes_of(const retrying_owner& o) {
  std::string out;
  for (const std::uint64_t half : {o.high, o.low})
    for (int shift = 56; shift >= 0; shift -= 8) out += static_cast<char>(half >> shift & 255);
  return out;
}

// The beginning of all permits of one claim.
std::string claim_of(const retrying_owner& o) { return bytes_of(o).substr(0, claim_bytes); }

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string hex_of_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    (out += hex_digits[b >> 4]) += hex_digits[b & 15];
  }
  return out;
}

// Requires is_owner(text).
std::string bytes_of_hex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(base::whole_number<unsigned>(text.substr(i, 2), 16).value_or(0));
  return out;
}

std::int64_t ms_of(std::chrono::microseconds wall) noexcept {
  return std::chrono::floor<std::chrono::milliseconds>(wall).count();
}

}  // namespace

codec::codec(channel_kind kind) noexcept : family_codec(facts_of_permits, kind) {}

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  const std::int64_t now = ms_of(r.wall);
  switch (op) {
    case operation::try_lock:
    case operation::resolve:
      return out.call(scripts::try_lock, {r.key, permits_key(r.key)}, claim_of(r.id),
                      std::int64_t{r.permits}, std::int64_t{r.total_permits}, now,
                      now + in_ms(r.ttl), published_channel(r.key));
    case operation::release:
    case operation::withdraw:
      out.call(scripts::release, 2, 4)
          << r.key << permits_key(r.key) << claim_of(r.id) << std::int64_t{r.permits} << now
          << published_channel(r.key);
      return;
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  constexpr std::size_t keys_each = 2, arguments_each = 4;
  command c = out.call(scripts::renew, keys_each * all.size(), 1 + arguments_each * all.size());
  for (const lock_request& r : all) c << r.key << permits_key(r.key);
  const std::int64_t now = all.empty() ? 0 : ms_of(all.front().wall);
  c << now;
  for (const lock_request& r : all)
    c << claim_of(r.id) << std::int64_t{r.permits} << now + in_ms(r.ttl)
      << published_channel(r.key);
}

void codec::append_holders_query(std::string& out, std::string_view key) const {
  eval(out, scripts::holders, {key, permits_key(key)});
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  const std::string permit = is_owner(seen) ? bytes_of_hex(seen) : std::string();
  eval(out, scripts::break_lock, {key, permits_key(key)}, permit.substr(0, claim_bytes), permit,
       published_channel(key));
}

// A claim's permits, whose ends are the same, stand side by side.
std::vector<holder> codec::read_holders_reply(const value& v) const {
  std::vector<holder> out;
  const std::size_t permits = v.size() / 2;
  const auto total = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(v[0].integer() + std::int64_t(permits), 0, 0xffff'ffff));
  value part = v[0].next();
  std::string_view claim;
  for (std::size_t i = 0; i < permits; ++i, part = part.next()) {
    const std::string_view id = part.text();
    part = part.next();
    if (id.size() != permit_bytes) continue;
    const bool is_another = claim != id.substr(0, claim_bytes);
    claim = id.substr(0, claim_bytes);
    if (!is_another) {
      ++out.back().permits;
      continue;
    }
    holder one = holder_of(hex_of_bytes(id), span_of(part.integer()));
    one.mode = lock_mode::permit;
    one.permits = 1;
    one.total_permits = total;
    out.push_back(std::move(one));
  }
  return out;
}

// Its first permit.
std::string codec::text_of(const retrying_owner& o) const {
  retrying_owner first = o;
  first.low &= ~std::uint64_t{0xffff'ffff};
  return hex_of(first);
}

bool codec::is_owner(std::string_view text) const noexcept {
  return text.size() == 2 * permit_bytes && text.find_first_not_of(hex_digits) == text.npos;
}

}  // namespace holdfast::redis::redisson_permits
