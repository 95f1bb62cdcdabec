#include "backend/redis/layouts/redisson/codec.hpp"

#include "backend/redis/layouts/redisson/names.hpp"
#include "backend/redis/layouts/redisson/replies.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redisson {

using namespace std::chrono_literals;

namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::ttl,
    .queue = core::order::none,
    .wanted = core::wanted_by::silent,
    .modes = core::bit_of(lock_mode::exclusive),
    .tokens = true,
    .processes = true,
    .breakable = true,
};

// A release without a message, as an RSpinLock's, keeps a waiter no longer than this.
constexpr retrying_recipe::rules listening{.has_channel = true,
                                           .try_is_idempotent = true,
                                           .nap_max = 5s};
// With jitter, between 1 and 128 ms.
constexpr retrying_recipe::rules polling{.try_is_idempotent = true,
                                         .back_off_min = 2ms,
                                         .back_off_max = 128ms};

const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

}  // namespace

const core::capabilities& codec::can() const noexcept { return abilities; }

const retrying_recipe::rules& codec::rules() const noexcept {
  return how_ == waiters::listen ? listening : polling;
}

std::string codec::text_of(const retrying_owner& o) const { return owner_of(client_id_, o); }

bool codec::is_owner(std::string_view text) const noexcept { return redisson::is_owner(text); }

std::string codec::name_fault(std::string_view name) const { return redisson::name_fault(name); }

std::string codec::channel_for(std::string_view key) const {
  return how_ == waiters::listen ? prefixed("redisson_lock__channel", key) : std::string();
}

std::string codec::channel_of(const lock_request& r) const { return channel_for(r.key); }

std::span<const error_meaning> codec::own_errors() const noexcept { return errors_of_scripts(); }

layout_needs codec::needs() const noexcept {
  static constexpr required_command commands[] = {
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
      {"hgetall", "HGETALL k", needed_for::looking},
      {"scan", "SCAN 0", needed_for::looking},
      {"publish", "PUBLISH redisson_lock__channel:{k} 0"},
      {"subscribe", "SUBSCRIBE redisson_lock__channel:{k}"},
  };
  constexpr std::size_t of_messages = 2;
  const std::span all = commands;
  return {.commands = how_ == waiters::listen ? all : all.first(all.size() - of_messages),
          .counts_by_lock = true,
          .channels = "redisson_lock__channel:*"};
}

void codec::append(command_writer& out, retrying_operation what, const lock_request& r) const {
  using operation = retrying_operation;
  switch (what) {
    case operation::try_lock:
      out.call(script_of(script_name::try_lock), 2, 2)
          << r.key << counter_of(r.key) << r.owner << in_ms(r.ttl);
      return;
    case operation::release:
    case operation::withdraw:
      out.call(script_of(script_name::release), 1, 2) << r.key << r.owner << channel_for(r.key);
      return;
    case operation::resolve:
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

retrying_reply codec::read(const value& v, const lock_request&, retrying_reply r) const {
  return r.to == retrying_operation::try_lock ? read_try(v, r) : read_compared(v, r);
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  append_renewals_by(script_of(script_name::renew), out, all);
}

void codec::append_look(std::string& out, std::string_view key) const {
  command(out, 4) << "EVAL" << script_of(script_name::holders).text << std::int64_t{1} << key;
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  command(out, 6) << "EVAL" << script_of(script_name::release).text << std::int64_t{1} << key
                  << seen << channel_for(key);
}

std::vector<holder> codec::read_look(const value& v) const { return read_holders(v); }

}  // namespace holdfast::redis::redisson
