#include <array>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void answer_field(call& c, const hash* h, std::string_view name) {
  const std::string* const text = h ? h->find(name) : nullptr;
  text ? c.out.bulk(*text) : c.out.null();
}

void run_hset(call& c) {
  if (c.argv.size() % 2 != 0)
    return c.out.error("ERR wrong number of arguments for 'hset' command");
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  hash& fields = h.it ? *h.it : make<hash>(c, c.argv[1]);
  long long added = 0;
  for (std::size_t i = 2; i < c.argv.size(); i += 2) added += fields.put(c.argv[i], c.argv[i + 1]);
  c.out.integer(added);
}

void run_hget(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (!h.wrong) answer_field(c, h.it, c.argv[2]);
}

void run_hmget(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  c.out.array(c.argv.size() - 2);
  for (const auto name : c.argv.subspan(2)) answer_field(c, h.it, name);
}

void run_hdel(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  long long gone = 0;
  if (h.it) {
    for (const auto name : c.argv.subspan(2)) gone += h.it->erase(name);
    if (h.it->fields().empty()) database(c).erase(c.argv[1], c.on.now_ms());
  }
  c.out.integer(gone);
}

void run_hlen(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (!h.wrong) c.out.integer(h.it ? static_cast<long long>(h.it->fields().size()) : 0);
}

void run_hexists(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (!h.wrong) c.out.integer(h.it && h.it->find(c.argv[2]));
}

void run_hgetall(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  c.out.array(h.it ? h.it->fields().size() * 2 : 0);
  if (!h.it) return;
  for (const auto& [name, text] : h.it->fields()) {
    c.out.bulk(name);
    c.out.bulk(text);
  }
}

void run_hkeys(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  c.out.array(h.it ? h.it->fields().size() : 0);
  if (!h.it) return;
  for (const auto& [name, text] : h.it->fields()) c.out.bulk(name);
}

void run_hvals(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  c.out.array(h.it ? h.it->fields().size() : 0);
  if (!h.it) return;
  for (const auto& [name, text] : h.it->fields()) c.out.bulk(text);
}

void run_hsetnx(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  if (h.it && h.it->find(c.argv[2])) return c.out.integer(0);
  (h.it ? *h.it : make<hash>(c, c.argv[1])).put(c.argv[2], c.argv[3]);
  c.out.integer(1);
}

void run_hincrby(call& c) {
  const auto step = whole_number(c.argv[3]);
  if (!step) return c.out.error(not_an_integer);
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  const std::string* const text = h.it ? h.it->find(c.argv[2]) : nullptr;
  const auto before = text ? whole_number(*text) : 0;
  if (!before) return c.out.error("ERR hash value is not an integer");
  long long sum = 0;
  if (__builtin_add_overflow(*before, *step, &sum))
    return c.out.error("ERR increment or decrement would overflow");
  (h.it ? *h.it : make<hash>(c, c.argv[1])).put(c.argv[2], std::to_string(sum));
  c.out.integer(sum);
}

// All at once and in the order of their arrival, as Redis answers of a small hash.
void run_hscan(call& c) {
  const auto h = find<hash>(c, c.argv[1]);
  if (h.wrong) return;
  c.out.array(2);
  c.out.bulk("0");
  c.out.array(h.it ? h.it->fields().size() * 2 : 0);
  if (!h.it) return;
  for (const auto& [name, text] : h.it->fields()) {
    c.out.bulk(name);
    c.out.bulk(text);
  }
}

constexpr std::array list_of_hashes{
    command{"hset", -4, writes | grows, run_hset},
    command{"hget", 3, 0, run_hget},
    command{"hmget", -3, 0, run_hmget},
    command{"hdel", -3, writes, run_hdel},
    command{"hlen", 2, 0, run_hlen},
    command{"hexists", 3, 0, run_hexists},
    command{"hgetall", 2, 0, run_hgetall},
    command{"hkeys", 2, 0, run_hkeys},
    command{"hvals", 2, 0, run_hvals},
    command{"hsetnx", 4, writes | grows, run_hsetnx},
    command{"hscan", -3, 0, run_hscan},
    command{"hincrby", 4, writes | grows, run_hincrby},
};

}  // namespace

std::span<const command> hash_commands() { return list_of_hashes; }

}  // namespace holdfast::sim
