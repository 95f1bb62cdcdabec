#include "backend/redis/layouts/redisson_fair/codec.hpp"

#include "backend/redis/layouts/redisson/names.hpp"
#include "backend/redis/layouts/redisson/replies.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson_fair {

using namespace std::chrono_literals;

namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::ttl,
    .queue = core::order::fifo,
    .wanted = core::wanted_by::silent,
    .modes = core::bit_of(lock_mode::exclusive),
    .tokens = true,
    .processes = true,
    .breakable = true,
};

constexpr retrying_recipe::rules in_a_queue{
    .has_channel = true,
    .has_queue = true,
    .try_is_idempotent = true,
    .queue_heartbeat = 3s,
};
static_assert(in_a_queue.queue_heartbeat + 5s <= window, "time for a reply that is late");

const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

std::string queue_of(std::string_view key) {
  return redisson::prefixed("redisson_lock_queue", key);
}
std::string times_of(std::string_view key) {
  return redisson::prefixed("redisson_lock_timeout", key);
}
// What the channels of all waiters begin with.
std::string channels_of(std::string_view key) {
  return redisson::prefixed("redisson_lock__channel", key);
}

}  // namespace

const core::capabilities& codec::can() const noexcept { return abilities; }

const retrying_recipe::rules& codec::rules() const noexcept { return in_a_queue; }

// Redisson would have the number of a thread where this has the time: no thread has such a number.
std::string codec::text_of(const retrying_owner& o) const {
  constexpr std::uint64_t no_thread = 8'000'000'000'000'000'000;
  const auto drawn = static_cast<std::uint64_t>(server_time_of(o.drawn.count()).count());
  return redisson::uuid_of(o) + ':' + std::to_string(no_thread + drawn);
}

bool codec::is_owner(std::string_view text) const noexcept { return redisson::is_owner(text); }

std::string codec::name_fault(std::string_view name) const { return redisson::name_fault(name); }

std::string codec::channel_of(const lock_request& r) const {
  return channels_of(r.key) + ':' + std::string(r.owner);
}

std::span<const error_meaning> codec::own_errors() const noexcept {
  return redisson::errors_of_scripts();
}

layout_needs codec::needs() const noexcept {
  static constexpr required_command commands[] = {
      {"type", "TYPE k"},
      {"exists", "EXISTS k"},
      {"time", "TIME"},
      {"pttl", "PTTL k"},
      {"pexpire", "PEXPIRE k 1"},
      {"hexists", "HEXISTS k f"},
      {"hset", "HSET k f v"},
      {"hdel", "HDEL k f"},
      {"get", "GET k"},
      {"incr", "INCR k"},
      {"decr", "DECR k"},
      {"lindex", "LINDEX k 0"},
      {"lrange", "LRANGE k 0 0"},
      {"lpop", "LPOP k"},
      {"rpush", "RPUSH k e"},
      {"linsert", "LINSERT k BEFORE e e"},
      {"lrem", "LREM k 0 e"},
      {"zscore", "ZSCORE k m"},
      {"zadd", "ZADD k 1 m"},
      {"zrem", "ZREM k m"},
      {"hgetall", "HGETALL k", needed_for::looking},
      {"llen", "LLEN k", needed_for::looking},
      {"scan", "SCAN 0", needed_for::looking},
      {"publish", "PUBLISH redisson_lock__channel:{k}:o 0"},
      {"subscribe", "SUBSCRIBE redisson_lock__channel:{k}:o"},
  };
  return {.commands = commands, .counts_by_lock = true, .channels = "redisson_lock__channel:*"};
}

void codec::append(command_writer& out, retrying_operation what, const lock_request& r) const {
  using operation = retrying_operation;
  switch (what) {
    case operation::try_lock:
      out.call(script_of(script_name::try_lock), 4, 6)
          << r.key << queue_of(r.key) << times_of(r.key) << redisson::counter_of(r.key) << r.owner
          << in_ms(r.ttl) << in_ms(window) << channels_of(r.key) << std::int64_t{r.may_queue}
          << std::int64_t{r.had_place};
      return;
    case operation::release:
    case operation::withdraw: {
      const bool is_held = what == operation::release;
      const script& s = script_of(is_held ? script_name::release : script_name::withdraw);
      out.call(s, 3, 3) << r.key << queue_of(r.key) << times_of(r.key) << r.owner << in_ms(window)
                        << channels_of(r.key);
      return;
    }
    case operation::resolve:
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

retrying_reply codec::read(const value& v, const lock_request&, retrying_reply r) const {
  return r.to == retrying_operation::try_lock ? redisson::read_try(v, r) : read_compared(v, r);
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  append_renewals_by(script_of(script_name::renew), out, all);
}

void codec::append_look(std::string& out, std::string_view key) const {
  command(out, 5) << "EVAL" << script_of(script_name::holders).text << std::int64_t{2} << key
                  << queue_of(key);
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  command(out, 9) << "EVAL" << script_of(script_name::release).text << std::int64_t{3} << key
                  << queue_of(key) << times_of(key) << seen << in_ms(window) << channels_of(key);
}

std::vector<holder> codec::read_look(const value& v) const { return redisson::read_holders(v); }

}  // namespace holdfast::redis::redisson_fair
