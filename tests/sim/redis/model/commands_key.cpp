// Commands for keys of any type.
#include <algorithm>
#include <array>
#include <vector>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/expiry.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

std::string_view type_of(const value& v) {
  constexpr std::array<std::string_view, 4> names{"string", "zset", "hash", "list"};
  return names[v.data.index()];
}

void run_del(call& c) {
  long long gone = 0;
  for (const auto key : c.argv.subspan(1)) gone += database(c).erase(key, c.on.now_ms());
  c.out.integer(gone);
}

void run_exists(call& c) {
  const auto keys = c.argv.subspan(1);
  c.out.integer(std::count_if(keys.begin(), keys.end(), [&](auto key) { return find(c, key); }));
}

void run_type(call& c) {
  const value* const v = find(c, c.argv[1]);
  c.out.status(v ? type_of(*v) : "none");
}

void answer_ttl(call& c, time_unit unit) {
  const value* const v = find(c, c.argv[1]);
  if (!v) return c.out.integer(-2);
  if (v->expires_ms == never_expires) return c.out.integer(-1);
  const std::int64_t left = std::max<std::int64_t>(v->expires_ms - c.on.now_ms(), 0);
  c.out.integer(unit == time_unit::seconds ? (left + 500) / 1000 : left);
}

void run_pttl(call& c) { answer_ttl(c, time_unit::milliseconds); }
void run_ttl(call& c) { answer_ttl(c, time_unit::seconds); }

void run_persist(call& c) {
  value* const v = find(c, c.argv[1]);
  const bool had = v && v->expires_ms != never_expires;
  if (had) v->expires_ms = never_expires;
  c.out.integer(had);
}

struct expire_terms {
  bool if_none = false;
  bool if_some = false;
  bool if_later = false;
  bool if_earlier = false;

  bool allow(std::int64_t at, std::int64_t now_set) const {
    const bool none = now_set == never_expires;
    return !(if_none && !none) && !(if_some && none) && !(if_later && at <= now_set) &&
           !(if_earlier && !none && at >= now_set);
  }
};

bool take_expire_options(call& c, expire_terms& terms) {
  for (const auto word : c.argv.subspan(3)) {
    if (same_word(word, "nx")) {
      terms.if_none = true;
    } else if (same_word(word, "xx")) {
      terms.if_some = true;
    } else if (same_word(word, "gt")) {
      terms.if_later = true;
    } else if (same_word(word, "lt")) {
      terms.if_earlier = true;
    } else {
      c.out.error("ERR Unsupported option " + std::string(word));
      return false;
    }
  }
  if (terms.if_none && (terms.if_some || terms.if_later || terms.if_earlier)) {
    c.out.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (terms.if_later && terms.if_earlier) {
    c.out.error("ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

void set_expiry_of(call& c, std::string_view name, time_unit unit, std::int64_t base_ms) {
  expire_terms terms;
  if (!take_expire_options(c, terms)) return;
  const auto amount = whole_number(c.argv[2]);
  if (!amount) return c.out.error(not_an_integer);
  const auto at = expiry_at(*amount, unit, base_ms);
  if (!at) return c.out.error(invalid_expire(name));
  value* const v = find(c, c.argv[1]);
  if (!v || !terms.allow(*at, v->expires_ms)) return c.out.integer(0);
  if (*at <= c.on.now_ms()) {
    database(c).erase(c.argv[1], c.on.now_ms());
  } else {
    v->expires_ms = *at;
  }
  c.out.integer(1);
}

void run_pexpire(call& c) { set_expiry_of(c, "pexpire", time_unit::milliseconds, c.on.now_ms()); }
void run_pexpireat(call& c) { set_expiry_of(c, "pexpireat", time_unit::milliseconds, 0); }
void run_expire(call& c) { set_expiry_of(c, "expire", time_unit::seconds, c.on.now_ms()); }

struct scan_terms {
  std::string_view pattern = "*";
  std::string_view type;
};

bool take_scan_options(call& c, scan_terms& terms) {
  for (std::size_t at = 2; at < c.argv.size(); at += 2) {
    if (at + 1 == c.argv.size()) {
      c.out.error(syntax_error);
      return false;
    }
    const auto text = c.argv[at + 1];
    if (same_word(c.argv[at], "match")) {
      terms.pattern = text;
    } else if (same_word(c.argv[at], "type")) {
      terms.type = text;
    } else if (!same_word(c.argv[at], "count") || whole_number(text).value_or(1) < 1) {
      c.out.error(syntax_error);
      return false;
    } else if (!whole_number(text)) {
      c.out.error(not_an_integer);
      return false;
    }
  }
  return true;
}

// All keys at once, sorted.
void run_scan(call& c) {
  if (!whole_number(c.argv[1])) return c.out.error("ERR invalid cursor");
  scan_terms terms;
  if (!take_scan_options(c, terms)) return;
  std::vector<std::string_view> keys;
  database(c).each([&](const std::string& key, const value& v) {
    if (c.on.now_ms() <= v.expires_ms && matches_glob(terms.pattern, key) &&
        (terms.type.empty() || terms.type == type_of(v)))
      keys.push_back(key);
  });
  std::sort(keys.begin(), keys.end());
  c.out.array(2);
  c.out.bulk("0");
  c.out.array(keys.size());
  for (const auto key : keys) c.out.bulk(key);
}

constexpr std::array list_of_keys{
    command{"del", -2, writes, run_del},
    command{"unlink", -2, writes, run_del},
    command{"exists", -2, 0, run_exists},
    command{"type", 2, 0, run_type},
    command{"pttl", 2, 0, run_pttl},
    command{"ttl", 2, 0, run_ttl},
    command{"persist", 2, writes, run_persist},
    command{"pexpire", -3, writes, run_pexpire},
    command{"pexpireat", -3, writes, run_pexpireat},
    command{"expire", -3, writes, run_expire},
    command{"scan", -2, 0, run_scan},
};

}  // namespace

std::span<const command> key_commands() { return list_of_keys; }

}  // namespace holdfast::sim
