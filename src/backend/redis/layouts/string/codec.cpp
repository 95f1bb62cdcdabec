#include "backend/redis/layouts/string/codec.hpp"

#include <algorithm>
#include <chrono>

#include "backend/redis/layouts/scripts.hpp"
#include "base/number.hpp"
#include "base/words.hpp"

namespace holdfast::redis {

using verdict = reply::verdict;

namespace {

namespace scripts = string::scripts;
using namespace std::chrono_literals;

constexpr std::size_t lock_keys = 6;

void append_keys(command& c, std::string_view lock, std::string_view counter) {
  const std::string_view tag = tag_of(lock);
  c << lock << side_key{tag, lock, 'q'} << side_key{tag, lock, 'm'} << counter;
  c << side_key{tag, lock, 'r'} << side_key{tag, lock, 'p'};
}

// The stamp follows the arguments.
command lock_script(command_writer& out, const script& s, const lock_arguments& a,
                    std::size_t arguments) {
  command c = out.call(s, lock_keys, arguments + 1);
  append_keys(c, a.lock, a.counter);
  return c;
}

// These are rare, and go by their text.
void eval_on_lock(std::string& out, const script& s, const owned_lock& l) {
  command c(out, 3 + lock_keys + 2);
  c << "EVAL" << s.text << static_cast<std::int64_t>(lock_keys);
  append_keys(c, l.lock, l.counter);
  c << l.owner << l.stamp;
}

server_time time_in(const value& v) noexcept { return server_time_of(v.integer()); }

}  // namespace

void append_try_locks(std::string& out, std::span<const lock_arguments> all) {
  out += "*1\r\n$5\r\nMULTI\r\n";
  for (const lock_arguments& a : all) {
    append_command(out, "SET", a.lock, a.owner, "NX", "PX", in_ms(a.ttl));
    append_command(out, "INCR", a.counter);
  }
  out += "*1\r\n$4\r\nEXEC\r\n";
}

void append_release_uncontended(command_writer& out, std::span<const lock_arguments> all) {
  command c = out.call(scripts::release_uncontended, 2 * all.size(), all.size());
  for (const lock_arguments& a : all) c << a.lock;
  for (const lock_arguments& a : all) c << side_key{tag_of(a.lock), a.lock, 'q'};
  for (const lock_arguments& a : all) c << a.owner;
}

void append_lock_all(command_writer& out, std::span<const lock_arguments> all) {
  command c = out.call(scripts::lock_all, 1 + 2 * all.size(), 1 + all.size());
  c << all.front().counter;
  duration longest{};  // a claim with a shorter ttl relies on less: that is safe
  for (const lock_arguments& a : all) {
    c << a.lock << side_key{tag_of(a.lock), a.lock, 'q'};
    longest = std::max(longest, a.ttl);
  }
  c << in_ms(longest);
  for (const lock_arguments& a : all) c << a.owner;
}

namespace {

void append_lock_or_queue(command_writer& out, const lock_arguments& a) {
  const bool alone = a.mode == lock_mode::exclusive;
  command c = alone ? lock_script(out, scripts::lock_or_queue, a, 5)
                    : lock_script(out, scripts::member_lock_or_queue, a, 8);
  c << a.owner << in_ms(a.ttl) << in_ms(a.window);
  if (a.arrival) {
    c << a.arrival;
  } else {
    c << "";
  }
  c << (a.looks ? "1" : "");
  if (!alone) c << (a.waits ? "" : "1") << std::int64_t{a.total_permits} << a.info;
  c << a.stamp;
}

// The script takes fewer keys than the others, since the lock has no members.
void append_release_with_successor(command_writer& out, const lock_arguments& a) {
  const std::string_view tag = tag_of(a.lock);
  command c = out.call(scripts::release_with_successor, 4, 5);
  c << a.lock << side_key{tag, a.lock, 'q'} << side_key{tag, a.lock, 'm'} << a.counter;
  c << a.owner << a.next_owner << in_ms(a.next_window) << (a.info_may_be_stored ? "1" : "0");
  c << a.stamp;
}

}  // namespace

void append_request(command_writer& out, operation op, const lock_arguments& a) {
  switch (op) {
    case operation::lock_or_queue: return append_lock_or_queue(out, a);
    case operation::peek_kind: return out.plain("GET", a.lock);
    case operation::check_waiters:
      return out.plain("EXISTS", side_key{tag_of(a.lock), a.lock, 'q'});
    case operation::downgrade: {
      const std::string writer = "hf1:" + std::string(a.owner.substr(4));
      lock_script(out, scripts::downgrade, a, 2) << writer << a.number << a.stamp;
      return;
    }
    case operation::resolve:
      lock_script(out, scripts::resolve, a, 2) << a.owner << in_ms(a.ttl) << a.stamp;
      return;
    case operation::release:
      if (a.mode != lock_mode::exclusive) {
        lock_script(out, scripts::member_release, a, 1) << a.owner << a.stamp;
      } else if (a.next_owner.empty()) {
        lock_script(out, scripts::release, a, 1) << a.owner << a.stamp;
      } else {
        append_release_with_successor(out, a);
      }
      return;
    case operation::withdraw:
      lock_script(out, scripts::withdraw, a, 1) << a.owner << a.stamp;
      return;
    case operation::try_lock:
    case operation::lock_all:
    case operation::release_uncontended:
    case operation::renew:
    case operation::none: return;  // many in one: the string_layout has them apart
  }
}

void append_withdraw(std::string& out, const owned_lock& l) {
  eval_on_lock(out, scripts::withdraw, l);
}

void append_break_lock(std::string& out, const owned_lock& l) {
  eval_on_lock(out, scripts::break_lock, l);
}

void append_raise_counter(std::string& out, std::string_view counter, std::int64_t seen) {
  eval(out, scripts::raise_counter, {counter}, seen);
}

void append_guarded_write(std::string& out, const guarded_write& w) {
  append_command(out, "EVAL", scripts::guarded_write.text, std::int64_t{2},
                 side_key{tag_of(w.key), w.key, 'g'}, w.key, w.mode, w.token, w.owner, w.value);
}

void append_renewals(command_writer& out, std::span<const renewal_arguments> all, bool of_members) {
  const script& s = of_members ? scripts::renew_members : scripts::renew;
  command c = out.call(s, (of_members ? 3 : 2) * all.size(), 3 * all.size());
  for (const renewal_arguments& r : all) {
    const std::string_view tag = tag_of(r.lock);
    c << r.lock;
    if (of_members) c << side_key{tag, r.lock, 'r'};
    c << side_key{tag, r.lock, 'm'};
  }
  for (const renewal_arguments& r : all) c << r.owner << in_ms(r.ttl) << r.info;
}

reply read_try_lock(const value& set, const value& number, reply r) {
  if (!set.is(value::kind::status)) {
    r.what = set.is(value::kind::nil) ? verdict::busy : verdict::failed;
  } else if (number.is(value::kind::integer)) {
    r.what = verdict::granted;
    r.number = number.integer();
  } else {
    r.why = errc::refused;
    r.left = true;
  }
  return r;
}

reply read_release_uncontended(const value& v, reply r) {
  constexpr std::int64_t gone = 0, done = 1;
  r.what = v.integer() == done   ? verdict::done
           : v.integer() == gone ? verdict::not_owner
                                 : verdict::again;
  return r;
}

// Reads the reply of a script: the highest number, or {the state of each claim's lock}.
reply read_lock_all(const value& all, std::size_t which, std::size_t members, reply r) {
  const value found = all[which];
  if (all.is(value::kind::integer)) {
    r.what = verdict::granted;
    r.number = std::clamp<std::int64_t>(all.integer(), 0, number_max) -
               static_cast<std::int64_t>(members - 1 - which);
  } else if (all.size() != members) {
    r = read_error(all.text(), r);
  } else if (found.is(value::kind::text)) {
    r = read_error(found.text(), r);
  } else {
    r.what = verdict::busy;
  }
  return r;
}

std::string text_of_kind(const value& v) {
  if (v.is_error("WRONGTYPE")) return "BADTYPE the key of the lock holds something else";
  if (v.is(value::kind::error)) return std::string(v.text());
  const auto total = v.is(value::kind::text) ? semaphore_total(v.text()) : std::nullopt;
  if (!total) return {};
  return std::string(other_kind) + " a semaphore of " + std::to_string(*total) +
         " permits has this name";
}

reply read_kind(const value& v, reply r) {
  const std::string text = text_of_kind(v);
  if (!text.empty()) return read_error(text, r);
  r.what = verdict::busy;
  return r;
}

reply read_waiters(const value& v, reply r) {
  if (v.is(value::kind::error)) return read_error(v.text(), r);
  r.what = verdict::done;
  r.others = v.integer() == 1;
  return r;
}

answer read_lock_or_queue(const value& v, reply r) {
  constexpr std::int64_t busy = 0, granted = 1, queued = 2;
  if (v.is(value::kind::error)) {
    // The script stopped half-way: the claim may be queued, or its note in M.
    r.left = v.text().find("@user_script") != std::string_view::npos;
    return {read_error(v.text(), r)};
  }
  if (v.size() < 7) {
    r.left = true;
    r.why = errc::refused;
    return {r};
  }
  const std::int64_t state = v[0].integer(), rest = v[4].integer();
  r.what = state == granted  ? verdict::granted
           : state == queued ? verdict::queued
           : state == busy   ? verdict::busy
                             : verdict::again;
  r.stands = v.size() > 7 && v[7].integer() != 0;
  r.number = v[1].integer();
  r.ahead = std::clamp<std::int64_t>(v[3].integer(), 0, number_max);
  r.rest = span_of(rest);
  r.others = v[5].integer() != 0;
  r.foreign = v[6].integer() != 0 || rest == -1;
  return {r, time_in(v[2])};
}

// The blocker is unknown: the claim checks when the window of the new owner is over.
answer read_successor(const value& v, reply r) {
  constexpr std::size_t passed = 3;
  if (v.is(value::kind::error)) return {read_error(v.text(), r)};
  r.what = v.size() == passed ? verdict::queued : verdict::again;
  if (r.what == verdict::again) return {r};
  r.number = v[1].integer();
  r.others = true;
  r.rest = span_of(v[2].integer());
  return {r, time_in(v[1])};
}

answer read_resolve(const value& v, reply r) {
  if (v.is(value::kind::error)) return {read_error(v.text(), r)};
  r.what = v[0].integer() == 1 ? verdict::granted : verdict::busy;
  r.number = v[1].integer();
  r.others = v[3].integer() != 0;
  return {r, time_in(v[2])};
}

answer read_released(const value& v, reply r) {
  constexpr std::int64_t gone = 0, done = 1;
  if (v.is(value::kind::error)) return {read_error(v.text(), r)};
  const std::int64_t state = v[0].integer();
  r.what = state == done ? verdict::done : state == gone ? verdict::not_owner : verdict::again;
  return {r, time_in(v[1])};
}

namespace {

constexpr error_meaning errors_of_scripts[] = {
    {other_type, errc::mismatch, false, false,
     "the lock's key holds data that is not a lock; choose another name, or ?prefix="},
    {"WRONGTYPE", errc::mismatch, false, false,
     "the lock's key holds data that is not a lock; choose another name, or ?prefix="},
    {other_kind, errc::mismatch, false, false,
     "a name is either a mutex, which may be shared, or a semaphore with one total in all "
     "programs; choose another name"},
    {counter_ahead, errc::refused, false, false,
     "the counter holdfast:n runs ahead of the server's clock, which was set back: tokens could "
     "repeat. Wait until the clock has caught up, or correct the clock"},
};

}  // namespace

std::span<const error_meaning> own_errors() noexcept { return errors_of_scripts; }

reply read_error(std::string_view text, reply r) {
  const error_meaning* const m = meaning_of(text, errors_of_scripts);
  r.what = m && m->is_passing ? reply::verdict::not_now : reply::verdict::failed;
  r.why = m ? m->why : errc::refused;
  return r;
}

std::string explain_reply(std::string_view text) {
  if (!text.starts_with(other_kind)) return explain(text, errors_of_scripts);
  // The server did not say this: the text is our own.
  const error_meaning& m = *meaning_of(other_kind, errors_of_scripts);
  text.remove_prefix(std::min(other_kind.size() + 1, text.size()));
  return printable(text, 200) + ": " + std::string(m.what_to_do);
}

std::optional<pushed_message> read_message(std::string_view payload) noexcept {
  const auto part = [&] { return base::next_word(payload, '|'); };
  const auto number = [&] { return base::leading_number<std::int64_t>(part()); };
  const std::string_view word = part();
  pushed_message m;
  if (word == "grant") {
    m.number = number();
    m.at = server_time_of(number());
    m.window = span_of(number());
    m.others = number() != 0;
    m.stamp = part();
  } else if (word == "look") {
    m.what = push::kind::look;
    m.at = server_time_of(number());
  } else if (word == "wanted") {
    m.what = push::kind::wanted;
    part();
  } else {
    return std::nullopt;
  }
  m.owner = part();
  m.lock = payload;
  return m;
}

namespace {

// The commands that are sent, and those that the scripts call.
constexpr required_command string_commands[] = {
    {"set", "SET holdfast:n 0"},
    {"get", "GET holdfast:n"},
    {"incr", "INCR holdfast:n"},
    {"incrby", "INCRBY holdfast:n 1"},
    {"del", "DEL holdfast:n"},
    {"exists", "EXISTS holdfast:n"},
    {"pttl", "PTTL holdfast:n"},
    {"pexpire", "PEXPIRE holdfast:n 1"},
    {"zadd", "ZADD holdfast:n 0 m"},
    {"zrem", "ZREM holdfast:n m"},
    {"zrange", "ZRANGE holdfast:n 0 0"},
    {"zrank", "ZRANK holdfast:n m"},
    {"zscore", "ZSCORE holdfast:n m"},
    {"zpopmin", "ZPOPMIN holdfast:n"},
    {"zcard", "ZCARD holdfast:n"},
    {"hset", "HSET holdfast:n f v"},
    {"hget", "HGET holdfast:n f"},
    {"hdel", "HDEL holdfast:n f"},
    {"hincrby", "HINCRBY holdfast:n f 1"},
    {"publish", "PUBLISH hf:0 m"},
    {"subscribe", "SUBSCRIBE hf:0"},
    {"scan", "SCAN 0", needed_for::inspection},
    {"hscan", "HSCAN holdfast:n 0", needed_for::cleanup},
};

}  // namespace

layout_needs needs_of_string() noexcept {
  return {.commands = string_commands, .counter = counter_key, .has_transactions = true};
}

}  // namespace holdfast::redis
