#include "backend/redis/layouts/redlock/codec.hpp"

#include <functional>
#include <string>

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::redlock {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view record_key = "holdfast:redlock";
constexpr std::string_view channel_prefix = "hf:redlock:";

constexpr required_command commands[] = {
    {"set", "SET k v NX PX 1"},
    {"get", "GET k"},
    {"del", "DEL k"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"hincrby", "HINCRBY holdfast:redlock number 1"},
    {"hget", "HGET holdfast:redlock number"},
    {"hset", "HSET holdfast:redlock number 1"},
    {"hmget", "HMGET holdfast:redlock number"},
    {"scan", "SCAN 0", needed_for::inspection},
    {"type", "TYPE k", needed_for::inspection},
    {"publish", "PUBLISH hf:redlock:k 0"},
    {"subscribe", "SUBSCRIBE hf:redlock:k"},
};

constexpr const script* loaded[] = {&scripts::vote, &scripts::raise, &scripts::release,
                                    &lua::scripts::renew};

constexpr codec_facts facts_of_redlock{
    .can = {.durable = true, .processes = true, .breakable = true},
    // A message of a server that has failed meanwhile is lost: the nap is short.
    .rules = {.has_channel = true, .try_is_idempotent = true, .nap_max = 5s},
    .loaded = loaded,
    .holders_script = &lua::scripts::holder,
    .renew = &lua::scripts::renew,
    .needs = {.commands = commands, .counts_by_server = true, .channels = "hf:redlock:*"},
    .owner_prefix = "hfr:",
};

constexpr char withdrawal_mark = '-';

std::string channel_for(std::string_view key) { return std::string(channel_prefix).append(key); }

ballot missing() noexcept { return {.what = vote::missing}; }

}  // namespace

codec::codec() noexcept : retrying_codec(facts_of_redlock) {}

std::string codec::name_fault(std::string_view name) const {
  if (!name.starts_with("holdfast:")) return {};
  return "names starting with \"holdfast:\" are reserved; choose another name, or add ?prefix=";
}

std::string codec::channel_of(const lock_request& r) const { return channel_for(r.key); }

void codec::append(command_writer& out, retrying_operation op, const lock_request& r) const {
  using operation = retrying_operation;
  switch (op) {
    case operation::try_lock:
    case operation::resolve:
      out.call(scripts::vote, 2, 3) << r.key << record_key << r.owner << in_ms(r.ttl) << r.seen;
      return;
    case operation::release:
      return out.call(scripts::release, {r.key}, r.owner, channel_for(r.key), r.owner);
    case operation::withdraw:
      return out.call(scripts::release, {r.key}, r.owner, channel_for(r.key),
                      withdrawal_mark + std::string(r.owner));
    case operation::renew: return append_renewals(out, {&r, 1});
    case operation::subscribe:
    case operation::downgrade:
    case operation::none: return;
  }
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  eval(out, scripts::release, {key}, seen, channel_for(key), seen);
}

void codec::append_raise(command_writer& out, const lock_request& r, std::int64_t number) const {
  out.call(scripts::raise, 2, 2) << r.key << record_key << r.owner << number;
}

void codec::append_record_query(command_writer& out, std::string_view process) const {
  out.call(scripts::record, {record_key}, process);
}

// By its text, which needs no second request: of new servers all have to begin before any of them
// is known to have begun.
void codec::append_begin(command_writer& out, std::int64_t number, duration max_ttl,
                         const server_state& s) const {
  eval(out.out(), scripts::begin, {record_key}, number, in_ms(max_ttl), std::string_view(s.run_id),
       std::string_view(s.record.seen));
}

release_message read_message(std::string_view payload) noexcept {
  const bool is_withdrawal = payload.starts_with(withdrawal_mark);
  return {payload.substr(is_withdrawal ? 1 : 0), is_withdrawal};
}

ballot read_attempt(const value& v) {
  constexpr std::int64_t busy = 0, ours = 1;
  if (!v.is(value::kind::array) || v.size() < 2) return missing();
  if (v[0].integer() == ours) return {.what = vote::yes, .number = v[1].integer()};
  if (v[0].integer() != busy) return missing();
  return {.what = vote::no,
          .holder = std::hash<std::string_view>{}(v[1].text()),
          .rest = span_of(v[2].integer())};
}

ballot read_comparison(const value& v) {
  const value answer = v.is(value::kind::array) ? v[0] : v;  // of a release it stands alone
  if (!answer.is(value::kind::integer)) return missing();
  const retrying_reply r = compared(answer, {});
  if (r.what == retrying_reply::verdict::done) return {.what = vote::yes};
  constexpr std::uint64_t somebody = 1;
  return {.what = vote::no, .holder = r.why == errc::not_held ? 0 : somebody};
}

}  // namespace holdfast::redis::redlock
