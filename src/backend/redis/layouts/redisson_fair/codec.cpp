#include "backend/redis/layouts/redisson_fair/codec.hpp"

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson_fair {

using redisson::fair_queue_of;
using namespace std::chrono_literals;

namespace {

constexpr retrying_recipe::rules in_a_queue{
    .has_channel = true,
    .has_queue = true,
    .try_is_idempotent = true,
    .queue_heartbeat = 3s,
};
// A lease that is not longer may end before the next waiter's heartbeat shows it to the waiter.
constexpr duration short_lease = in_a_queue.queue_heartbeat + 1s;
static_assert(in_a_queue.queue_heartbeat + 5s <= window, "time for a reply that is late");

constexpr required_command commands[] = {
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
    {"hgetall", "HGETALL k", needed_for::inspection},
    {"llen", "LLEN k", needed_for::inspection},
    {"scan", "SCAN 0", needed_for::inspection},
    {"publish", "PUBLISH redisson_lock__channel:{k}:o 0"},
    {"subscribe", "SUBSCRIBE redisson_lock__channel:{k}:o"},
    {"spublish", "SPUBLISH redisson_lock__channel:{k}:o 0", needed_for::messages_in_cluster},
    {"ssubscribe", "SSUBSCRIBE redisson_lock__channel:{k}:o", needed_for::messages_in_cluster},
    {"sunsubscribe", "SUNSUBSCRIBE redisson_lock__channel:{k}:o", needed_for::messages_in_cluster},
};

constexpr const script* loaded[] = {&scripts::try_lock,          &scripts::release,
                                    &scripts::withdraw,          &redisson::scripts::renew,
                                    &redisson::scripts::holders, &scripts::break_lock};

constexpr codec_facts facts_of_fair{
    .can = {.queue = seam::order::fifo, .processes = true, .breakable = true},
    .rules = in_a_queue,
    .loaded = loaded,
    .renew = &redisson::scripts::renew,
    .own_errors = redisson::errors_of_scripts,
    .needs = {.commands = commands, .counts_by_lock = true, .channels = "redisson_lock__channel:*"},
    .channel_prefix = "redisson_lock__channel",  // of the channels of all waiters
};

std::string times_of(std::string_view key) {
  return redisson::prefixed("redisson_lock_timeout", key);
}

}  // namespace

codec::codec(channel_kind kind) noexcept : lock_codec(facts_of_fair, kind) {}

// Redisson would have the number of a thread where this has the time: no thread has such a number.
std::string codec::text_of(const retrying_owner& o) const {
  constexpr std::uint64_t no_thread = 8'000'000'000'000'000'000;
  const auto drawn = static_cast<std::uint64_t>(server_time_of(o.drawn.count()).count());
  return redisson::uuid_of(o) + ':' + std::to_string(no_thread + drawn);
}

std::string codec::channel_of(const lock_request& r) const {
  return channel_at(r.key) + ':' + std::string(r.owner);
}

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  switch (op) {
    case operation::try_lock:
      return out.call(scripts::try_lock,
                      {r.key, fair_queue_of(r.key), times_of(r.key), redisson::counter_of(r.key)},
                      r.owner, in_ms(r.ttl), in_ms(window), published_channel(r.key),
                      std::int64_t{r.may_queue}, std::int64_t{r.had_place}, in_ms(short_lease));
    case operation::release:
      return out.call(scripts::release, {r.key, fair_queue_of(r.key), times_of(r.key)}, r.owner,
                      in_ms(window), published_channel(r.key));
    case operation::withdraw:
      return out.call(scripts::withdraw, {r.key, fair_queue_of(r.key), times_of(r.key)}, r.owner,
                      in_ms(window), published_channel(r.key), std::int64_t{r.only_place});
    case operation::resolve:
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

void codec::append_holders_query(std::string& out, std::string_view key) const {
  eval(out, redisson::scripts::holders, {key, fair_queue_of(key)});
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  eval(out, scripts::break_lock, {key, fair_queue_of(key), times_of(key)}, seen, in_ms(window),
       published_channel(key));
}

}  // namespace holdfast::redis::redisson_fair
