#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

struct zadd_terms {
  bool if_absent = false;
  bool if_present = false;
  bool if_greater = false;
  bool if_less = false;
  bool count_changes = false;
  bool add = false;
  std::size_t first = 2;  // where scores and members start
};

zadd_terms take_zadd_options(arguments argv) {
  zadd_terms terms;
  const auto flag = [&](std::string_view name, bool& on) {
    if (!same_word(argv[terms.first], name)) return false;
    on = true;
    ++terms.first;
    return true;
  };
  while (terms.first < argv.size() &&
         (flag("nx", terms.if_absent) || flag("xx", terms.if_present) ||
          flag("gt", terms.if_greater) || flag("lt", terms.if_less) ||
          flag("ch", terms.count_changes) || flag("incr", terms.add))) {}
  return terms;
}

std::string_view wrong_with(const zadd_terms& t, std::size_t arguments_left) {
  if (arguments_left == 0 || arguments_left % 2 != 0) return syntax_error;
  if (t.if_absent && t.if_present)
    return "ERR XX and NX options at the same time are not compatible";
  if ((t.if_absent && (t.if_greater || t.if_less)) || (t.if_greater && t.if_less))
    return "ERR GT, LT, and/or NX options at the same time are not compatible";
  if (t.add && arguments_left > 2)
    return "ERR INCR option supports a single increment-element pair";
  return {};
}

struct zadd_result {
  long long added = 0;
  long long changed = 0;
  std::optional<double> score;  // of the last one that was not left as it is
  bool not_a_number = false;
};

void put_scored(sorted_set& set, const zadd_terms& t, double score, std::string_view member,
                zadd_result& result) {
  const auto* const old = set.find(member);
  if (!old) {
    if (t.if_present) return;
    ++result.added;
  } else {
    if (t.if_absent) return;
    if (t.add) score += old->score;
    result.not_a_number = std::isnan(score);
    if (result.not_a_number || (t.if_less && score >= old->score) ||
        (t.if_greater && score <= old->score))
      return;
    result.changed += score != old->score;
  }
  result.score = score;
  if (!old || old->score != score) set.put(member, score);
}

void add_scored(call& c, const zadd_terms& terms) {
  const auto rest = c.argv.subspan(terms.first);
  if (const auto error = wrong_with(terms, rest.size()); !error.empty()) return c.out.error(error);
  std::vector<double> scores;
  for (std::size_t i = 0; i < rest.size(); i += 2) {
    const auto score = real_number(rest[i]);
    if (!score) return c.out.error("ERR value is not a valid float");
    scores.push_back(*score);
  }
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  zadd_result result;
  if (set.it || !terms.if_present) {
    sorted_set& elements = set.it ? *set.it : make<sorted_set>(c, c.argv[1]);
    for (std::size_t i = 0; i < scores.size(); ++i)
      put_scored(elements, terms, scores[i], rest[2 * i + 1], result);
  }
  if (result.not_a_number) return c.out.error("ERR resulting score is not a number (NaN)");
  if (!terms.add) return c.out.integer(result.added + (terms.count_changes ? result.changed : 0));
  result.score ? c.out.bulk_score(*result.score) : c.out.null();
}

void run_zadd(call& c) { add_scored(c, take_zadd_options(c.argv)); }

void run_zincrby(call& c) {
  zadd_terms terms;
  terms.add = true;
  add_scored(c, terms);
}

void drop_empty(call& c, const sorted_set& set) {
  if (set.elements().empty()) database(c).erase(c.argv[1], c.on.now_ms());
}

void run_zrem(call& c) {
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  long long gone = 0;
  if (set.it) {
    for (const auto member : c.argv.subspan(2)) gone += set.it->erase(member);
    drop_empty(c, *set.it);
  }
  c.out.integer(gone);
}

void run_zcard(call& c) {
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (!set.wrong) c.out.integer(set.it ? static_cast<long long>(set.it->elements().size()) : 0);
}

void run_zscore(call& c) {
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  const auto* const e = set.it ? set.it->find(c.argv[2]) : nullptr;
  e ? c.out.bulk_score(e->score) : c.out.null();
}

void run_zrank(call& c) {
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  const auto* const e = set.it ? set.it->find(c.argv[2]) : nullptr;
  e ? c.out.integer(e - set.it->elements().data()) : c.out.null();
}

void answer_element(call& c, const sorted_set::element& e, bool with_score) {
  c.out.bulk(e.member);
  if (with_score) c.out.bulk_score(e.score);
}

void run_zrange(call& c) {
  bool with_scores = false, reversed = false;
  for (const auto word : c.argv.subspan(4)) {
    const bool scores = same_word(word, "withscores");
    if (same_word(word, "byscore") || same_word(word, "bylex") || same_word(word, "limit"))
      return c.out.error("ERR the model has no ZRANGE by score or name");
    if (!scores && (reversed || !same_word(word, "rev"))) return c.out.error(syntax_error);
    (scores ? with_scores : reversed) = true;
  }
  const auto start = whole_number(c.argv[2]), stop = whole_number(c.argv[3]);
  if (!start || !stop) return c.out.error(not_an_integer);
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  const auto size = set.it ? static_cast<long long>(set.it->elements().size()) : 0;
  const long long from = std::max(*start < 0 ? *start + size : *start, 0LL);
  const long long to = std::min(*stop < 0 ? *stop + size : *stop, size - 1);
  const long long count = from > to ? 0 : to - from + 1;
  c.out.array(static_cast<std::size_t>(with_scores ? count * 2 : count));
  for (long long i = from; i < from + count; ++i)
    answer_element(c, set.it->elements()[static_cast<std::size_t>(reversed ? size - 1 - i : i)],
                   with_scores);
}

void run_zpopmin(call& c) {
  if (c.argv.size() > 3) return c.out.error(syntax_error);
  const auto asked = c.argv.size() == 3 ? whole_number(c.argv[2]) : 1;
  if (!asked || *asked < 0) return c.out.error("ERR value is out of range, must be positive");
  const auto set = find<sorted_set>(c, c.argv[1]);
  if (set.wrong) return;
  const std::size_t size = set.it ? set.it->elements().size() : 0;
  const std::size_t count = std::min(size, static_cast<std::size_t>(*asked));
  c.out.array(count * 2);
  if (!set.it) return;
  for (std::size_t i = 0; i < count; ++i) answer_element(c, set.it->elements()[i], true);
  set.it->erase_first(count);
  drop_empty(c, *set.it);
}

constexpr std::array list_of_sorted_sets{
    command{"zadd", -4, writes | grows, run_zadd},
    command{"zincrby", 4, writes | grows, run_zincrby},
    command{"zrem", -3, writes, run_zrem},
    command{"zcard", 2, 0, run_zcard},
    command{"zscore", 3, 0, run_zscore},
    command{"zrank", 3, 0, run_zrank},
    command{"zrange", -4, 0, run_zrange},
    command{"zpopmin", -2, writes, run_zpopmin},
};

}  // namespace

std::span<const command> sorted_set_commands() { return list_of_sorted_sets; }

}  // namespace holdfast::sim
