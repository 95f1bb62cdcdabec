#include <algorithm>
#include <array>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

enum class side : unsigned char { left, right };

void push(call& c, side where) {
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  list& all = l.it ? *l.it : make<list>(c, c.argv[1]);
  for (const auto text : c.argv.subspan(2))
    all.insert(where == side::left ? all.begin() : all.end(), std::string(text));
  c.out.integer(static_cast<long long>(all.size()));
}

void run_lpush(call& c) { push(c, side::left); }
void run_rpush(call& c) { push(c, side::right); }

void run_linsert(call& c) {
  const bool before = same_word(c.argv[2], "before");
  if (!before && !same_word(c.argv[2], "after")) return c.out.error(syntax_error);
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  if (!l.it) return c.out.integer(0);
  list& all = *l.it;
  const auto pivot = std::ranges::find(all, c.argv[3]);
  if (pivot == all.end()) return c.out.integer(-1);
  all.insert(before ? pivot : pivot + 1, std::string(c.argv[4]));
  c.out.integer(static_cast<long long>(all.size()));
}

void drop_empty_list(call& c, const list& all) {
  if (all.empty()) database(c).erase(c.argv[1], c.on.now_ms());
}

void answer_pop(call& c, list& all, side where) {
  const auto at = where == side::left ? all.begin() : all.end() - 1;
  c.out.bulk(*at);
  all.erase(at);
}

void pop(call& c, side where) {
  const bool counts = c.argv.size() == 3;
  if (c.argv.size() > 3) {
    const std::string name = where == side::left ? "lpop" : "rpop";
    return c.out.error("ERR wrong number of arguments for '" + name + "' command");
  }
  const auto asked = counts ? whole_number(c.argv[2]) : 1;
  if (!asked || *asked < 0) return c.out.error("ERR value is out of range, must be positive");
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  if (!l.it) return counts ? c.out.null_array() : c.out.null();
  const auto count = std::min(l.it->size(), static_cast<std::size_t>(*asked));
  if (counts) c.out.array(count);
  for (std::size_t i = 0; i < count; ++i) answer_pop(c, *l.it, where);
  drop_empty_list(c, *l.it);
}

void run_lpop(call& c) { pop(c, side::left); }
void run_rpop(call& c) { pop(c, side::right); }

void run_llen(call& c) {
  const auto l = find<list>(c, c.argv[1]);
  if (!l.wrong) c.out.integer(l.it ? static_cast<long long>(l.it->size()) : 0);
}

void run_lindex(call& c) {
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  if (!l.it) return c.out.null();
  const auto index = whole_number(c.argv[2]);
  if (!index) return c.out.error(not_an_integer);
  const auto size = static_cast<long long>(l.it->size());
  const long long at = *index < 0 ? *index + size : *index;
  at < 0 || at >= size ? c.out.null() : c.out.bulk((*l.it)[static_cast<std::size_t>(at)]);
}

void run_lrange(call& c) {
  const auto start = whole_number(c.argv[2]), stop = whole_number(c.argv[3]);
  if (!start || !stop) return c.out.error(not_an_integer);
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  const auto size = l.it ? static_cast<long long>(l.it->size()) : 0;
  const long long from = std::max(*start < 0 ? *start + size : *start, 0LL);
  const long long to = std::min(*stop < 0 ? *stop + size : *stop, size - 1);
  c.out.array(from > to ? 0 : static_cast<std::size_t>(to - from + 1));
  for (long long i = from; i <= to; ++i) c.out.bulk((*l.it)[static_cast<std::size_t>(i)]);
}

void run_lrem(call& c) {
  const auto asked = whole_number(c.argv[2]);
  if (!asked) return c.out.error(not_an_integer);
  const auto l = find<list>(c, c.argv[1]);
  if (l.wrong) return;
  if (!l.it) return c.out.integer(0);
  const bool backwards = *asked < 0;
  list& all = *l.it;
  if (backwards) std::reverse(all.begin(), all.end());
  long long gone = 0;
  std::erase_if(all, [&](const std::string& text) {
    const bool goes = text == c.argv[3] && (*asked == 0 || gone != (backwards ? -*asked : *asked));
    gone += goes;
    return goes;
  });
  if (backwards) std::reverse(all.begin(), all.end());
  drop_empty_list(c, all);
  c.out.integer(gone);
}

constexpr std::array list_of_lists{
    command{"lpush", -3, writes | grows, run_lpush},
    command{"rpush", -3, writes | grows, run_rpush},
    command{"linsert", 5, writes | grows, run_linsert},
    command{"lpop", -2, writes, run_lpop},
    command{"rpop", -2, writes, run_rpop},
    command{"llen", 2, 0, run_llen},
    command{"lindex", 3, 0, run_lindex},
    command{"lrange", 4, 0, run_lrange},
    command{"lrem", 4, writes, run_lrem},
};

}  // namespace

std::span<const command> list_commands() { return list_of_lists; }

}  // namespace holdfast::sim
