#include "backend/redis/layouts/setnx/codec.hpp"

#include "backend/redis/layouts/scripts.hpp"
#include "backend/redis/server_time.hpp"

namespace holdfast::redis::setnx {

using operation = retrying_operation;
using verdict = retrying_reply::verdict;

namespace {

constexpr std::size_t each = 3;  // commands of a renewal, in a transaction

constexpr required_command commands[] = {
    {"setnx", "SETNX k v"},
    {"exists", "EXISTS k"},
    {"get", "GET k"},
    {"del", "DEL k"},
    {"pttl", "PTTL k"},
    {"pexpire", "PEXPIRE k 1"},
    {"echo", "ECHO t"},
    {"scan", "SCAN 0", needed_for::inspection},
    {"type", "TYPE k", needed_for::inspection},
};

// The scripts are for an operator: none is loaded.
constexpr codec_facts facts_of_setnx{
    .can = {.tokens = false, .processes = true, .breakable = true, .unsafe = true},
    .holders_script = &scripts::holder,
    .break_lock = &scripts::break_lock,
    .needs = {.commands = commands, .has_transactions = true},
    // So that no other layout takes an owner of this one for its own.
    .owner_prefix = "hfx:",
};

constexpr codec_facts facts_of_setnx_exists = [] {
  codec_facts f = facts_of_setnx;
  f.rules.withdraws_always = true;
  return f;
}();

}  // namespace

codec::codec(acquired_by by) noexcept
    : retrying_codec(by == acquired_by::exists ? facts_of_setnx_exists : facts_of_setnx),
      tests_existence_(by == acquired_by::exists) {}

codec::part codec::part_of(operation op, std::uint8_t step) const noexcept {
  switch (op) {
    case operation::try_lock:
      if (tests_existence_ && step == 0) return part::exists;
      return step == (tests_existence_ ? 1 : 0) ? part::set : part::expire;
    case operation::resolve: return step == 0 ? part::get : part::expire;
    case operation::withdraw: return step == 0 && !tests_existence_ ? part::get : part::del;
    default: return part::del;
  }
}

void codec::append(command_writer& out, operation op, const lock_request& r) const {
  switch (part_of(op, r.step)) {
    case part::exists: return out.plain("EXISTS", r.key);
    case part::set: return out.plain("SETNX", r.key, r.owner);
    case part::expire: return out.plain("PEXPIRE", r.key, in_ms(r.ttl));
    case part::get: return out.plain("GET", r.key);
    case part::del: return out.plain("DEL", r.key);
  }
}

retrying_reply codec::read(const value& v, const lock_request& r, retrying_reply out) const {
  const part to = part_of(out.to, r.step);
  const bool leaves = out.to == operation::release || out.to == operation::withdraw;
  if (v.is(value::kind::error)) {
    out = refused_by(v.text(), facts().own_errors, out);
    out.left = out.left || r.step > 0;  // the key is there, perhaps forever
    return out;
  }
  const bool is_number = v.is(value::kind::integer);
  if (to == part::get ? is_number : !is_number) return unreadable(out);
  switch (to) {
    case part::exists: out.what = v.integer() == 0 ? verdict::next_step : verdict::busy; break;
    case part::set:
      out.what = v.integer() == 1 || tests_existence_ ? verdict::next_step : verdict::busy;
      break;
    case part::expire: out.what = v.integer() == 1 ? verdict::granted : verdict::busy; break;
    case part::get:
      out.what = v.text() == r.owner && !r.owner.empty() ? verdict::next_step
                 : leaves                                ? verdict::not_owner
                                                         : verdict::busy;
      break;
    case part::del: out.what = v.integer() == 1 ? verdict::done : verdict::not_owner; break;
  }
  return out;
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  out.plain("MULTI");
  for (const lock_request& r : all) {
    out.plain("GET", r.key);
    out.plain("PEXPIRE", r.key, in_ms(r.ttl));
    out.plain("ECHO", r.owner);  // so that the reply has what it is compared with
  }
  out.plain("EXEC");
}

std::uint32_t codec::renewal_replies(std::size_t locks) const noexcept {
  return static_cast<std::uint32_t>(each * locks + 2);
}

retrying_reply codec::read_renewal(const value& all, std::size_t index, retrying_reply r) const {
  if (all.is(value::kind::error)) return refused_by(all.text(), facts().own_errors, r);
  if (!all.is(value::kind::array) || each * (index + 1) > all.size()) return unreadable(r);
  const value owner = all[each * index];
  const bool is_extended = all[each * index + 1].integer() == 1;
  const bool is_ours = is_extended && owner.text() == all[each * index + 2].text();
  r.what = is_ours ? verdict::done : verdict::not_owner;
  if (owner.is(value::kind::nil)) r.why = errc::not_held;
  return r;
}

}  // namespace holdfast::redis::setnx
