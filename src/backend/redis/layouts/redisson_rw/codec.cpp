// Source: RedissonReadLock and RedissonWriteLock of Redisson.
#include "backend/redis/layouts/redisson_rw/codec.hpp"

#include "backend/redis/layouts/redisson/names.hpp"
#include "backend/redis/layouts/redisson/replies.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson_rw {

using namespace std::chrono_literals;

namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::ttl,
    .queue = core::order::none,
    .wanted = core::wanted_by::silent,
    .modes = core::bit_of(lock_mode::exclusive) | core::bit_of(lock_mode::shared),
    .tokens = true,
    .durable = true,
    .processes = true,
    .breakable = true,
    .downgrade = true,
};

// Redisson's writers become readers without a message: that keeps a reader no longer than this.
constexpr retrying_recipe::rules listening{.has_channel = true,
                                           .try_is_idempotent = true,
                                           .nap_max = 5s};

constexpr error_meaning errors_of_scripts[] = {
    redisson::bad_type,
    {"OTHERKIND", errc::mismatch, false, false,
     "it is no lock of readers and writers; choose another name for this one, or ?layout=redisson"},
    redisson::bad_token,
};

constexpr std::string_view as_writer = ":write";
constexpr std::string_view group_prefix = "readers:";  // and their number

const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

// Of every key that stands for a hold; the owner and the number of the hold follow.
std::string holds_of(std::string_view key) { return redisson::suffixed(key, {}); }

std::string hold_of(const lock_request& r) {
  return holds_of(r.key).append(r.owner).append(":rwlock_timeout:1");
}

std::string channel_at(std::string_view key) { return redisson::prefixed("redisson_rwlock", key); }

}  // namespace

const core::capabilities& codec::can() const noexcept { return abilities; }

const retrying_recipe::rules& codec::rules() const noexcept { return listening; }

std::span<const script> codec::scripts() const noexcept { return all_scripts(); }

std::span<const error_meaning> codec::own_errors() const noexcept { return errors_of_scripts; }

layout_needs codec::needs() const noexcept {
  static constexpr required_command commands[] = {
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
      {"scan", "SCAN 0", needed_for::looking},
      {"hkeys", "HKEYS k", needed_for::tidying},
  };
  return {.commands = commands, .counts_by_lock = true, .channels = "redisson_rwlock:*"};
}

void codec::append(command_writer& out, retrying_operation what, const lock_request& r) const {
  using operation = retrying_operation;
  switch (what) {
    case operation::try_lock:
    case operation::resolve: {
      const bool is_reader = r.mode == lock_mode::shared;
      out.call(script_of(script_name::try_lock), 3, 4)
          << r.key << redisson::counter_of(r.key) << hold_of(r) << r.owner << in_ms(r.ttl)
          << (is_reader ? "read" : "write") << holds_of(r.key);
      return;
    }
    case operation::release:
    case operation::withdraw:
      out.call(script_of(script_name::release), 2, 3)
          << r.key << hold_of(r) << r.owner << holds_of(r.key) << channel_at(r.key);
      return;
    case operation::downgrade:
      out.call(script_of(script_name::downgrade), 2, 3)
          << r.key << hold_of(r) << r.owner << in_ms(r.ttl) << channel_at(r.key);
      return;
    case operation::subscribe:
    case operation::renew:
    case operation::none: return;
  }
}

retrying_reply codec::read(const value& v, const lock_request&, retrying_reply r) const {
  const bool asks = r.to == retrying_operation::try_lock || r.to == retrying_operation::resolve;
  return asks ? redisson::read_try(v, r) : read_compared(v, r);
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  command c = out.call(script_of(script_name::renew), 2 * all.size(), 2 * all.size());
  for (const lock_request& r : all) c << r.key << hold_of(r);
  for (const lock_request& r : all) c << r.owner << in_ms(r.ttl);
}

void codec::append_look(std::string& out, std::string_view key) const {
  command(out, 5) << "EVAL" << script_of(script_name::holders).text << std::int64_t{1} << key
                  << holds_of(key);
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  const bool is_group = seen.starts_with(group_prefix);
  command(out, 9) << "EVAL" << script_of(script_name::break_lock).text << std::int64_t{2} << key
                  << redisson::counter_of(key) << seen
                  << (is_group ? seen.substr(group_prefix.size()) : std::string_view())
                  << holds_of(key) << channel_at(key);
}

std::vector<holder> codec::read_look(const value& v) const {
  std::vector<holder> out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    holder& h = out.emplace_back(holder_of(v[i][0].text(), span_of(v[i][1].integer())));
    h.how = h.owner.ends_with(as_writer) ? lock_mode::exclusive : lock_mode::shared;
  }
  return out;
}

std::string codec::text_of(const retrying_owner& o) const {
  constexpr std::uint64_t nineteen_digits = std::uint64_t{1} << 62;
  retrying_owner marked = o;
  marked.low |= nineteen_digits;
  return redisson::owner_of(client_id_, marked);
}

std::string codec::guarded_owner(const retrying_owner& o, const held_grant& g) const {
  if (g.how != lock_mode::shared) return text_of(o).append(as_writer);
  return std::string(group_prefix) + std::to_string(g.number);
}

bool codec::is_owner(std::string_view text) const noexcept { return redisson::is_owner(text); }

std::string codec::name_fault(std::string_view name) const { return redisson::name_fault(name); }

std::string codec::channel_of(const lock_request& r) const { return channel_at(r.key); }

}  // namespace holdfast::redis::redisson_rw
