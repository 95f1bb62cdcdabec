#include "survey/claims.hpp"

#include <algorithm>
#include <optional>

#include "survey/columns.hpp"

namespace survey {
namespace {

enum class measure_of : unsigned char { rate, success };

struct cell_name {
  std::string_view topology, lock, load;
};

// A claim says that the figures fall, from the first cell to the last.
struct claim {
  std::string_view text;
  measure_of what;
  std::vector<cell_name> falling;
};

const claim all_claims[] = {
    {"Redis is faster than ZooKeeper, ZooKeeper is faster than MySQL: a free lock",
     measure_of::rate,
     {{"redis", "lua", "free"}, {"zookeeper-3", "sequence", "free"}, {"mysql", "row", "free"}}},
    {"The same where the database keeps the lock with the connection",
     measure_of::rate,
     {{"redis", "lua", "free"},
      {"zookeeper-3", "sequence", "free"},
      {"mysql", "for-update", "free"}}},
    {"The same for one busy lock",
     measure_of::rate,
     {{"redis", "lua", "hot-16"},
      {"zookeeper-3", "sequence", "hot-16"},
      {"mysql", "for-update", "hot-16"}}},
    {"More attempts succeed with a pessimistic lock of the database than with ZooKeeper, and with "
     "ZooKeeper than with Redis",
     measure_of::success,
     {{"mysql", "for-update", "documents"},
      {"zookeeper-3", "sequence", "documents"},
      {"redis", "lua", "documents"}}},
    {"A lease without a watchdog is faster than one with it: a free lock",
     measure_of::rate,
     {{"redis", "redisson-lease", "free"}, {"redis", "redisson", "free"}}},
    {"The same for one busy lock",
     measure_of::rate,
     {{"redis", "redisson-lease", "hot-16"}, {"redis", "redisson", "hot-16"}}},
    {"Optimistic updates are faster than a pessimistic lock: without conflicts",
     measure_of::rate,
     {{"mysql", "version", "free"}, {"mysql", "for-update", "free"}}},
    {"and slower with many conflicts",
     measure_of::rate,
     {{"mysql", "for-update", "hot-16"}, {"mysql", "version", "hot-16"}}},
    {"Redis suits few workers, and ZooKeeper many: with 2 workers Redis is faster",
     measure_of::rate,
     {{"redis", "lua", "hot-2"}, {"zookeeper-3", "sequence", "hot-2"}}},
    {"and with 256 workers more attempts succeed with ZooKeeper",
     measure_of::success,
     {{"zookeeper-3", "sequence", "hot-256"}, {"redis", "lua", "hot-256"}}},
    {"A direct hand-off gives all workers of a busy lock their turn: more attempts succeed with a "
     "queue at the server than with polling",
     measure_of::success,
     {{"redis", "string", "hot-256"}, {"redis", "lua", "hot-256"}}},
    {"Many servers carry more locks than one: 64 locks over 3 shards and over 1",
     measure_of::rate,
     {{"shards-3", "string", "separate-64"}, {"shards-1", "string", "separate-64"}}},
    {"Redlock costs several times one server",
     measure_of::rate,
     {{"redis", "string", "free"}, {"redlock", "redlock", "free"}}},
};

const cell* find(const results& r, const cell_name& name) {
  const auto at = std::ranges::find_if(r.cells, [&name](const cell& c) {
    return c.topology == name.topology && c.lock == name.lock && c.load == name.load;
  });
  return at == r.cells.end() || at->runs.empty() ? nullptr : &*at;
}

double figure_of(const cell& c, measure_of what) {
  return what == measure_of::rate ? median(each(c, acquired_per_second)) : 100 * success_rate(c);
}

std::string_view unit_of(measure_of what) {
  return what == measure_of::rate ? " per second" : " %";
}

constexpr double clear_difference = 1.1;

std::string result_of(const std::vector<double>& falling) {
  bool is_clear = true;
  for (std::size_t i = 1; i < falling.size(); ++i) {
    if (falling[i] > clear_difference * falling[i - 1]) return "contradicted";
    if (falling[i - 1] < clear_difference * falling[i]) is_clear = false;
  }
  return is_clear ? "confirmed" : "no difference above 10 %";
}

checked_claim check(const results& r, const claim& c) {
  checked_claim result{.text = c.text};
  std::vector<double> figures;
  for (const cell_name& name : c.falling) {
    const cell* found = find(r, name);
    if (!found) return {.text = c.text, .measured = "-", .result = "not measured"};
    figures.push_back(figure_of(*found, c.what));
    result.measured += result.measured.empty() ? "" : "; ";
    result.measured += std::string(name.topology) + " " + std::string(name.lock) + " " +
                       figure(figures.back()) + std::string(unit_of(c.what));
  }
  result.result = result_of(figures);
  return result;
}

}  // namespace

std::vector<checked_claim> check_claims(const results& r) {
  std::vector<checked_claim> all;
  for (const claim& c : all_claims) all.push_back(check(r, c));
  return all;
}

}  // namespace survey
