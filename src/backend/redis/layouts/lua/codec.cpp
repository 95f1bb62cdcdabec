#include "backend/redis/layouts/lua/codec.hpp"

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::lua {

namespace {

constexpr required_command commands[] = {
    {"setnx", "SETNX k v"},
    {"get", "GET k"},
    {"del", "DEL k"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"scan", "SCAN 0", needed_for::inspection},
    {"type", "TYPE k", needed_for::inspection},
};

constexpr const script* loaded[] = {&scripts::try_lock, &scripts::resolve, &scripts::release,
                                    &scripts::renew, &scripts::holder};

constexpr codec_facts facts_of_lua{
    .can = {.tokens = false, .processes = true, .breakable = true},
    .loaded = loaded,
    .holders_script = &scripts::holder,
    .break_lock = &scripts::release,
    .renew = &scripts::renew,
    .needs = {.commands = commands},
    // So that no other layout takes an owner of this one for its own.
    .owner_prefix = "hfl:",
};

}  // namespace

codec::codec() noexcept : retrying_codec(facts_of_lua) {}

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  switch (op) {
    case operation::try_lock: return out.call(scripts::try_lock, {r.key}, r.owner, in_ms(r.ttl));
    case operation::resolve: return out.call(scripts::resolve, {r.key}, r.owner, in_ms(r.ttl));
    case operation::release:
    case operation::withdraw: return out.call(scripts::release, {r.key}, r.owner);
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

}  // namespace holdfast::redis::lua
