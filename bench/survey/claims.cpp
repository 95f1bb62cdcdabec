#include "survey/claims.hpp"

#include <algorithm>

#include "survey/columns.hpp"

namespace survey {
namespace {

enum class measure_of : unsigned char { rate, success, fairness, commands, slow_acquire };

struct cell_name {
  std::string_view topology, lock, load;
};

// A claim says that the figures fall, from the first cell to the last; or, with a limit, that the
// figure of its one cell is at least the limit, and a time at most.
struct claim {
  std::string_view text, theirs;
  measure_of what;
  std::vector<cell_name> falling;
  double limit = 0;           // 0: none
  std::string_view remark{};  // on how it is measured
};

constexpr std::string_view stores_in_order = "Redis > ZooKeeper > MySQL";

const claim all_claims[] = {
    {"Avoid locks first: an update that needs none costs less than a lock alone",
     "optimistic update > lock",
     measure_of::rate,
     {{"mysql", "version", "free"}, {"mysql", "row", "free"}}},
    {"Redis is faster than ZooKeeper, ZooKeeper is faster than MySQL: a free lock",
     stores_in_order,
     measure_of::rate,
     {{"redis", "lua", "free"}, {"zookeeper-3", "sequence", "free"}, {"mysql", "row", "free"}}},
    {"The same where the database keeps the lock with the connection",
     stores_in_order,
     measure_of::rate,
     {{"redis", "lua", "free"},
      {"zookeeper-3", "sequence", "free"},
      {"mysql", "for-update", "free"}}},
    {"The same for one busy lock",
     stores_in_order,
     measure_of::rate,
     {{"redis", "lua", "hot-16"},
      {"zookeeper-3", "sequence", "hot-16"},
      {"mysql", "for-update", "hot-16"}}},
    {"One Redis server executes 100,000 operations per second",
     "100,000 per second",
     measure_of::commands,
     {{"redis", "setnx", "separate-64"}},
     100'000,
     "each command is a request"},
    {"and it grants as many locks",
     "100,000 per second",
     measure_of::rate,
     {{"redis", "string", "separate-64"}},
     100'000},
    {"A free lock of Redis is acquired within 1 ms",
     "1 ms",
     measure_of::slow_acquire,
     {{"redis", "lua", "free"}},
     1},
    {"More attempts succeed with a pessimistic lock of the database than with ZooKeeper, and with "
     "ZooKeeper than with Redis",
     "pessimistic > ZooKeeper > Redis",
     measure_of::success,
     {{"mysql", "for-update", "documents"},
      {"zookeeper-3", "sequence", "documents"},
      {"redis", "lua", "documents"}}},
    {"The watchdog lowers concurrency: a free lock with a fixed lease is faster",
     "without > with",
     measure_of::rate,
     {{"redis", "redisson-lease", "free"}, {"redis", "redisson", "free"}}},
    {"The same for one busy lock",
     "without > with",
     measure_of::rate,
     {{"redis", "redisson-lease", "hot-16"}, {"redis", "redisson", "hot-16"}}},
    {"Optimistic updates are for few conflicts: without conflicts they are faster than a "
     "pessimistic lock",
     "optimistic > pessimistic",
     measure_of::rate,
     {{"mysql", "version", "free"}, {"mysql", "for-update", "free"}}},
    {"and slower with many conflicts",
     "pessimistic > optimistic",
     measure_of::rate,
     {{"mysql", "for-update", "hot-16"}, {"mysql", "version", "hot-16"}}},
    {"Redis suits few workers, and ZooKeeper many: with 2 workers Redis is faster",
     "Redis > ZooKeeper",
     measure_of::rate,
     {{"redis", "lua", "hot-2"}, {"zookeeper-3", "sequence", "hot-2"}}},
    {"and with 256 workers ZooKeeper serves more of them",
     "ZooKeeper > Redis",
     measure_of::fairness,
     {{"zookeeper-3", "sequence", "hot-256"}, {"redis", "lua", "hot-256"}}},
    {"A direct hand-off gives all workers of a busy lock their turn, and polling does not",
     "-",
     measure_of::fairness,
     {{"redis", "string", "hot-256"}, {"redis", "lua", "hot-256"}}},
    {"Divide the names among many servers, which carry more locks than one: 64 locks over 3 "
     "shards and over 1",
     "3 servers > 1 server",
     measure_of::rate,
     {{"shards-3", "string", "separate-64"}, {"shards-1", "string", "separate-64"}},
     0,
     "the shards share the processors of one machine, so more of them gain nothing unless one "
     "thread is the limit"},
    {"Redlock costs several times one server",
     "-",
     measure_of::rate,
     {{"redis", "string", "free"}, {"redlock", "redlock", "free"}}},
};

double figure_of(const cell& c, measure_of what) {
  const double rate = median(each(c, acquired_per_second));
  switch (what) {
    case measure_of::success: return 100 * success_rate(c);
    case measure_of::fairness: return median(each(c, [](const measurement& m) { return m.jain; }));
    case measure_of::commands: return rate * commands_per_acquisition(c);
    case measure_of::slow_acquire: return all_of(c, &measurement::acquire).quantile_us(0.99) / 1000;
    case measure_of::rate: break;
  }
  return rate;
}

struct measure_words {
  std::string_view unit, what;
};

measure_words words_of(measure_of what) {
  switch (what) {
    case measure_of::success: return {" %", "attempts that succeed"};
    case measure_of::fairness: return {"", "Jain's index"};
    case measure_of::commands: return {" per second", "commands that the server executes"};
    case measure_of::slow_acquire: return {" ms", "99th percentile of acquire"};
    case measure_of::rate: break;
  }
  return {" per second", "acquisitions per second"};
}

std::string how_measured(const claim& c) {
  std::string text(words_of(c.what).what);
  text.append(", load ").append(c.falling.front().load);
  if (!c.remark.empty()) text.append("; ").append(c.remark);
  return text;
}

constexpr double clear_difference = 1.1;

std::string result_of(const claim& c, const std::vector<double>& falling) {
  if (c.limit > 0) {
    const bool is_time = c.what == measure_of::slow_acquire;
    const bool holds = is_time ? falling[0] <= c.limit : falling[0] >= c.limit;
    return holds ? "confirmed" : "contradicted";
  }
  bool is_clear = true;
  for (std::size_t i = 1; i < falling.size(); ++i) {
    if (falling[i] > clear_difference * falling[i - 1]) return "contradicted";
    if (falling[i - 1] < clear_difference * falling[i]) is_clear = false;
  }
  return is_clear ? "confirmed" : "no difference above 10 %";
}

checked_claim check(const results& r, const claim& c) {
  checked_claim result{.text = c.text, .theirs = c.theirs, .how = how_measured(c)};
  std::vector<double> figures;
  for (const cell_name& name : c.falling) {
    const cell* found = find_measured(r, name.topology, name.lock, name.load);
    figures.push_back(found ? figure_of(*found, c.what) : 0);
    const bool is_known = found && (c.what != measure_of::commands || figures.back() > 0);
    if (!is_known) {
      result.measured = "-";
      result.result = "not measured";
      return result;
    }
    result.measured += result.measured.empty() ? "" : "; ";
    result.measured += std::string(name.topology) + " " + std::string(name.lock) + " " +
                       figure(figures.back()) + std::string(words_of(c.what).unit);
  }
  result.result = result_of(c, figures);
  return result;
}

}  // namespace

std::vector<checked_claim> check_claims(const results& r) {
  std::vector<checked_claim> all;
  for (const claim& c : all_claims) all.push_back(check(r, c));
  return all;
}

}  // namespace survey
