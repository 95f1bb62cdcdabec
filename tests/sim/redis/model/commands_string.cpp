// SET, GET and counters.
#include <array>
#include <limits>
#include <optional>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/expiry.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void run_get(call& c) {
  const auto text = find<std::string>(c, c.argv[1]);
  if (text.wrong) return;
  text.it ? c.out.bulk(*text.it) : c.out.null();
}

struct set_terms {
  bool if_absent = false;
  bool if_present = false;
  bool keep_ttl = false;
  bool answer_old = false;
  std::optional<std::string_view> time;
  time_unit unit = time_unit::milliseconds;
  bool absolute = false;
};

// One option with what belongs to it; how many arguments it took, 0 for none that fits.
std::size_t take_set_option(arguments rest, set_terms& terms) {
  const std::string_view word = rest[0];
  const auto flag = [&](std::string_view name, bool& on, bool against) {
    if (!same_word(word, name) || against) return false;
    on = true;
    return true;
  };
  if (flag("nx", terms.if_absent, terms.if_present)) return 1;
  if (flag("xx", terms.if_present, terms.if_absent)) return 1;
  if (flag("get", terms.answer_old, false)) return 1;
  if (flag("keepttl", terms.keep_ttl, terms.time.has_value())) return 1;
  const bool seconds = same_word(word, "ex") || same_word(word, "exat");
  const bool known = seconds || same_word(word, "px") || same_word(word, "pxat");
  const auto unit = seconds ? time_unit::seconds : time_unit::milliseconds;
  const bool absolute = word.size() == 4;
  if (!known || terms.keep_ttl || rest.size() < 2) return 0;
  if (terms.time && (terms.unit != unit || terms.absolute != absolute)) return 0;
  terms.time = rest[1];
  terms.unit = unit;
  terms.absolute = absolute;
  return 2;
}

// The time of expiry; nothing when it was answered that there is none.
std::optional<std::int64_t> set_expiry(call& c, const set_terms& terms) {
  if (!terms.time) return never_expires;
  const auto amount = whole_number(*terms.time);
  if (!amount) {
    c.out.error(not_an_integer);
    return std::nullopt;
  }
  const auto at = *amount > 0 ? expiry_at(*amount, terms.unit, terms.absolute ? 0 : c.on.now_ms())
                              : std::nullopt;
  if (!at) c.out.error(invalid_expire("set"));
  return at;
}

void run_set(call& c) {
  set_terms terms;
  for (std::size_t at = 3; at < c.argv.size();) {
    const std::size_t taken = take_set_option(c.argv.subspan(at), terms);
    if (taken == 0) return c.out.error(syntax_error);
    at += taken;
  }
  const auto expires = set_expiry(c, terms);
  if (!expires) return;
  value* const old = find(c, c.argv[1]);
  if (terms.answer_old) {
    const auto text = find<std::string>(c, c.argv[1]);
    if (text.wrong) return;
    text.it ? c.out.bulk(*text.it) : c.out.null();
  }
  if ((terms.if_absent && old) || (terms.if_present && !old)) {
    if (!terms.answer_old) c.out.null();
    return;
  }
  value& v = old ? *old : database(c).make(c.argv[1]);
  v.data.emplace<std::string>(c.argv[2]);
  if (!terms.keep_ttl) v.expires_ms = *expires;
  if (!terms.answer_old) c.out.status("OK");
}

void run_setnx(call& c) {
  if (find(c, c.argv[1])) return c.out.integer(0);
  make<std::string>(c, c.argv[1]) = c.argv[2];
  c.out.integer(1);
}

void run_getset(call& c) {
  const auto text = find<std::string>(c, c.argv[1]);
  if (text.wrong) return;
  text.it ? c.out.bulk(*text.it) : c.out.null();
  value& v = database(c).make(c.argv[1]);
  v.data.emplace<std::string>(c.argv[2]);
  v.expires_ms = never_expires;
}

void add_to(call& c, long long step) {
  const auto text = find<std::string>(c, c.argv[1]);
  if (text.wrong) return;
  const auto before = text.it ? whole_number(*text.it) : 0;
  if (!before) return c.out.error(not_an_integer);
  long long sum = 0;
  if (__builtin_add_overflow(*before, step, &sum))
    return c.out.error("ERR increment or decrement would overflow");
  (text.it ? *text.it : make<std::string>(c, c.argv[1])) = std::to_string(sum);
  c.out.integer(sum);
}

void run_incr(call& c) { add_to(c, 1); }

void run_decr(call& c) { add_to(c, -1); }

void run_incrby(call& c) {
  const auto step = whole_number(c.argv[2]);
  step ? add_to(c, *step) : c.out.error(not_an_integer);
}

constexpr std::array list_of_strings{
    command{"get", 2, 0, run_get},
    command{"set", -3, writes | grows, run_set},
    command{"setnx", 3, writes | grows, run_setnx},
    command{"getset", 3, writes | grows, run_getset},
    command{"decr", 2, writes | grows, run_decr},
    command{"incr", 2, writes | grows, run_incr},
    command{"incrby", 3, writes | grows, run_incrby},
};

}  // namespace

std::optional<std::int64_t> expiry_at(long long amount, time_unit unit, std::int64_t base_ms) {
  std::int64_t at = amount;
  if (unit == time_unit::seconds && __builtin_mul_overflow(at, 1000, &at)) return std::nullopt;
  if (__builtin_add_overflow(at, base_ms, &at)) return std::nullopt;
  return at;
}

std::string invalid_expire(std::string_view command) {
  return "ERR invalid expire time in '" + std::string(command) + "' command";
}

std::span<const command> string_commands() { return list_of_strings; }

}  // namespace holdfast::sim
