// Source: RedissonReadLock and RedissonWriteLock of Redisson.
#include "backend/redis/layouts/redisson_rw/codec.hpp"

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson_rw {

using namespace std::chrono_literals;

namespace {

// Redisson's writers become readers without a message: that keeps a reader no longer than this.
constexpr retrying_recipe::rules listening{.has_channel = true,
                                           .try_is_idempotent = true,
                                           .nap_max = 5s};

constexpr error_meaning errors_of_scripts[] = {
    redisson::bad_type,
    {"OTHERKIND", errc::mismatch, false, false,
     "the key holds data that is not a lock of readers and writers; choose another name for this "
     "one, or ?layout=redisson"},
    redisson::bad_token,
};

constexpr required_command commands[] = {
    {"type", "TYPE k"},
    {"hget", "HGET k f"},
    {"hset", "HSET k f v"},
    {"hdel", "HDEL k f"},
    {"hexists", "HEXISTS k f"},
    {"hlen", "HLEN k"},
    {"hgetall", "HGETALL k"},
    {"set", "SET k v"},
    {"get", "GET k"},
    {"del", "DEL k"},
    {"time", "TIME"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"publish", "PUBLISH redisson_rwlock:{k} 0"},
    {"subscribe", "SUBSCRIBE redisson_rwlock:{k}"},
    {"spublish", "SPUBLISH redisson_rwlock:{k} 0", needed_for::messages_in_cluster},
    {"ssubscribe", "SSUBSCRIBE redisson_rwlock:{k}", needed_for::messages_in_cluster},
    {"sunsubscribe", "SUNSUBSCRIBE redisson_rwlock:{k}", needed_for::messages_in_cluster},
    {"scan", "SCAN 0", needed_for::inspection},
    {"hkeys", "HKEYS k", needed_for::cleanup},
};

constexpr const script* loaded[] = {&scripts::try_lock,  &scripts::release, &scripts::renew,
                                    &scripts::downgrade, &scripts::holders, &scripts::break_lock};

constexpr codec_facts facts_of_rw{
    .can = {.modes = seam::bit_of(lock_mode::exclusive) | seam::bit_of(lock_mode::shared),
            .durable = true,
            .processes = true,
            .breakable = true,
            .downgrade = true},
    .rules = listening,
    .loaded = loaded,
    .own_errors = errors_of_scripts,
    .needs = {.commands = commands, .counts_by_lock = true, .channels = "redisson_rwlock:*"},
    .channel_prefix = "redisson_rwlock",
};

constexpr std::string_view as_writer = ":write";
constexpr std::string_view group_prefix = "readers:";  // and their number

// The beginning of the key of a hold; the owner and the number of the hold follow.
std::string holds_of(std::string_view key) { return redisson::suffixed(key, {}); }

std::string hold_of(const lock_request& r) {
  return holds_of(r.key).append(r.owner).append(":rwlock_timeout:1");
}

}  // namespace

codec::codec(std::string client_id, channel_kind kind)
    : lock_codec(facts_of_rw, kind), client_id_(std::move(client_id)) {}

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  switch (op) {
    case operation::try_lock:
    case operation::resolve:
      return out.call(scripts::try_lock, {r.key, redisson::counter_of(r.key), hold_of(r)}, r.owner,
                      in_ms(r.ttl), r.mode == lock_mode::shared ? "read" : "write",
                      holds_of(r.key));
    case operation::release:
    case operation::withdraw:
      return out.call(scripts::release, {r.key, hold_of(r)}, r.owner, holds_of(r.key),
                      published_channel(r.key));
    case operation::downgrade:
      return out.call(scripts::downgrade, {r.key, hold_of(r)}, r.owner, in_ms(r.ttl),
                      published_channel(r.key));
    case operation::subscribe:
    case operation::renew:
    case operation::none: return;
  }
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  command c = out.call(scripts::renew, 2 * all.size(), 2 * all.size());
  for (const lock_request& r : all) c << r.key << hold_of(r);
  for (const lock_request& r : all) c << r.owner << in_ms(r.ttl);
}

void codec::append_holders_query(std::string& out, std::string_view key) const {
  eval(out, scripts::holders, {key}, holds_of(key));
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  const bool is_group = seen.starts_with(group_prefix);
  eval(out, scripts::break_lock, {key, redisson::counter_of(key)}, seen,
       is_group ? seen.substr(group_prefix.size()) : std::string_view(), holds_of(key),
       published_channel(key));
}

std::vector<holder> codec::read_holders_reply(const value& v) const {
  std::vector<holder> out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    holder& h = out.emplace_back(holder_of(v[i][0].text(), span_of(v[i][1].integer())));
    h.mode = h.owner.ends_with(as_writer) ? lock_mode::exclusive : lock_mode::shared;
  }
  return out;
}

std::string codec::text_of(const retrying_owner& o) const {
  constexpr std::uint64_t nineteen_digits = std::uint64_t{1} << 62;
  retrying_owner marked = o;
  marked.low |= nineteen_digits;
  return redisson::owner_of(client_id_, marked);
}

std::string codec::guarded_owner(const retrying_owner& o, const guarded_grant& g) const {
  if (g.mode != lock_mode::shared) return text_of(o).append(as_writer);
  return std::string(group_prefix) + std::to_string(g.number);
}

}  // namespace holdfast::redis::redisson_rw
