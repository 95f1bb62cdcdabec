#include "backend/redis/layouts/getset/codec.hpp"

#include <algorithm>
#include <optional>

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"
#include "base/number.hpp"

namespace holdfast::redis::getset {

using namespace std::chrono_literals;
using operation = retrying_operation;
using verdict = retrying_reply::verdict;
using std::chrono::milliseconds;

namespace {

constexpr error_meaning errors_of_commands[] = {
    {"WRONGTYPE", errc::mismatch, false, false,
     "the lock's key holds data that is not a lock; choose another name, or ?prefix="},
};

constexpr required_command commands[] = {
    {"setnx", "SETNX k v"}, {"get", "GET k"}, {"getset", "GETSET k v"},
    {"set", "SET k v"},     {"del", "DEL k"}, {"scan", "SCAN 0", needed_for::inspection},
};

constexpr const script* loaded[] = {&scripts::renew, &scripts::holder, &scripts::break_lock};

constexpr codec_facts facts_of_getset{
    .can = {.tokens = false, .processes = true, .breakable = true, .unsafe = true},
    .loaded = loaded,
    .holders_script = &scripts::holder,
    .break_lock = &scripts::break_lock,
    .own_errors = errors_of_commands,
    .needs = {.commands = commands},
    .key_suffix = ".lock",
    .owner_is_stamp = true,
};

std::string text_of_stamp(std::chrono::microseconds at) {
  return std::to_string(std::chrono::floor<milliseconds>(at).count());
}

std::optional<milliseconds> stamp_of(std::string_view text) noexcept {
  constexpr std::int64_t limit = number_max;
  const auto ms = base::whole_number<std::int64_t>(text);
  if (!ms || *ms < 0 || *ms > limit) return {};
  return milliseconds{*ms};
}

// Also the stamp of a renewal that was not answered.
bool is_ours(std::string_view stamp, const lock_request& r) {
  if (stamp.empty() || r.owner.empty()) return false;
  return stamp == r.owner || (r.renewed != 0us && stamp == text_of_stamp(r.renewed));
}

}  // namespace

codec::codec(duration stale_after) noexcept
    : retrying_codec(facts_of_getset), stale_after_(std::chrono::ceil<milliseconds>(stale_after)) {}

std::chrono::microseconds codec::stamp_at(std::chrono::microseconds wall, duration ttl) const {
  return std::max<std::chrono::microseconds>(wall + milliseconds{in_ms(ttl)} - stale_after_, 1ms);
}

std::string codec::text_of(const retrying_owner& o) const { return text_of_stamp(o.drawn); }

bool codec::is_owner(std::string_view text) const noexcept { return stamp_of(text).has_value(); }

duration codec::rest_of(std::string_view stamp, std::chrono::microseconds wall) const noexcept {
  const auto at = stamp_of(stamp);
  if (!at) return duration::max();
  return std::max<duration>(*at + stale_after_ - std::chrono::floor<milliseconds>(wall), 0ms);
}

void codec::append(command_writer& out, operation op, const lock_request& r) const {
  const bool leaves = op == operation::release || op == operation::withdraw;
  if (leaves && r.step > 0) {
    out.plain("DEL", r.key);
  } else if (leaves || op == operation::resolve || r.step == 1) {
    out.plain("GET", r.key);
  } else {
    out.plain(r.step == 0 ? "SETNX" : "GETSET", r.key, r.owner);
  }
}

retrying_reply codec::read_try(const value& v, const lock_request& r, retrying_reply out) const {
  if (r.step == 0) {
    if (!v.is(value::kind::integer)) return unreadable(out);
    out.what = v.integer() == 1 ? verdict::granted : verdict::next_step;
    return out;
  }
  const bool is_free = v.is(value::kind::nil);
  if (!is_free && !v.is(value::kind::text)) return unreadable(out);
  out.what = verdict::busy;
  out.rest = is_free ? 0ms : rest_of(v.text(), r.wall);
  if (r.step == 1 && !is_free && out.rest == 0ms) out.what = verdict::next_step;
  // No client wrote between the two commands, or the lock was free and has our stamp now.
  if (r.step > 1 && (is_free || v.text() == r.seen)) out.what = verdict::granted;
  return out;
}

retrying_reply codec::read(const value& v, const lock_request& r, retrying_reply out) const {
  if (v.is(value::kind::error)) {
    out = refused_by(v.text(), facts().own_errors, out);
    out.left = out.left || r.step > 1;
    return out;
  }
  if (out.to == operation::try_lock) return read_try(v, r, out);
  const bool leaves = out.to == operation::release || out.to == operation::withdraw;
  if (leaves && r.step > 0) return compared(v, out);
  if (v.is(value::kind::integer)) return unreadable(out);
  if (is_ours(v.text(), r)) {
    out.what = leaves ? verdict::next_step : verdict::granted;
  } else {
    out.what = leaves ? verdict::not_owner : verdict::busy;
  }
  return out;
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  command c = out.call(scripts::renew, all.size(), 3 * all.size());
  for (const lock_request& r : all) c << r.key;
  for (const lock_request& r : all)
    c << r.owner << text_of_stamp(r.renewed) << text_of_stamp(stamp_at(r.wall, r.ttl));
}

std::vector<holder> codec::read_holders_reply(const value& v) const {
  if (v.size() != 2) return {};
  const std::string_view stamp = v[0].text();
  return {holder_of(stamp, rest_of(stamp, milliseconds{v[1].integer()}))};
}

}  // namespace holdfast::redis::getset
