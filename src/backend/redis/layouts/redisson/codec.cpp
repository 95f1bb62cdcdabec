#include "backend/redis/layouts/redisson/codec.hpp"

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson {

using namespace std::chrono_literals;

namespace {

// A release without a message, as an RSpinLock's, keeps a waiter no longer than this.
constexpr retrying_recipe::rules listening{.has_channel = true,
                                           .try_is_idempotent = true,
                                           .nap_max = 5s};
// With jitter, between 1 and 128 ms.
constexpr retrying_recipe::rules polling{.try_is_idempotent = true,
                                         .back_off_min = 2ms,
                                         .back_off_max = 128ms,
                                         .share_after = 5ms,
                                         .share_max = 128ms};

constexpr required_command commands[] = {
    {"type", "TYPE k"},
    {"exists", "EXISTS k"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"hexists", "HEXISTS k f"},
    {"hset", "HSET k f v"},
    {"hdel", "HDEL k f"},
    {"get", "GET k"},
    {"incr", "INCR k"},
    {"decr", "DECR k"},
    {"hgetall", "HGETALL k", needed_for::inspection},
    {"scan", "SCAN 0", needed_for::inspection},
    {"lindex", "LINDEX k 0", needed_for::inspection},
    {"publish", "PUBLISH redisson_lock__channel:{k} 0"},
    {"subscribe", "SUBSCRIBE redisson_lock__channel:{k}"},
    {"spublish", "SPUBLISH redisson_lock__channel:{k} 0", needed_for::messages_in_cluster},
    {"ssubscribe", "SSUBSCRIBE redisson_lock__channel:{k}", needed_for::messages_in_cluster},
    {"sunsubscribe", "SUNSUBSCRIBE redisson_lock__channel:{k}", needed_for::messages_in_cluster},
};
constexpr std::size_t of_messages = 6;

constexpr const script* loaded[] = {&scripts::try_lock, &scripts::release, &scripts::renew,
                                    &scripts::holders, &scripts::break_lock};

constexpr codec_facts facts_of(waiters waiting) {
  const std::span all = commands;
  const bool listens = waiting == waiters::listen;
  return {
      .can = {.processes = true, .breakable = true},
      .rules = listens ? listening : polling,
      .loaded = loaded,
      .holders_script = &scripts::holders,
      .renew = &scripts::renew,
      .own_errors = errors_of_scripts,
      .needs = {.commands = listens ? all : all.first(all.size() - of_messages),
                .counts_by_lock = true,
                .channels = "redisson_lock__channel:*"},
      .channel_prefix = listens ? "redisson_lock__channel" : "",
  };
}

constexpr codec_facts facts_of_lock = facts_of(waiters::listen),
                      facts_of_spin_lock = facts_of(waiters::poll);

}  // namespace

codec::codec(std::string client_id, waiters waiting, channel_kind kind)
    : lock_codec(waiting == waiters::listen ? facts_of_lock : facts_of_spin_lock, kind),
      client_id_(std::move(client_id)) {}

std::string codec::text_of(const retrying_owner& o) const { return owner_of(client_id_, o); }

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  switch (op) {
    case operation::try_lock:
      out.call(scripts::try_lock, 2, 2) << r.key << counter_of(r.key) << r.owner << in_ms(r.ttl);
      return;
    case operation::release:
    case operation::withdraw:
      return out.call(scripts::release, {r.key}, r.owner, published_channel(r.key));
    case operation::resolve:
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  eval(out, scripts::break_lock, {key}, seen, published_channel(key), fair_queue_of(key));
}

}  // namespace holdfast::redis::redisson
