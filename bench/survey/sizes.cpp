#include "survey/sizes.hpp"

#include <algorithm>
#include <cmath>

#include "survey/columns.hpp"

namespace survey {
namespace {

struct sized_store {
  std::string_view topology;
  std::string_view unit;  // what is counted
  double servers;         // of a unit, which share the work of an acquisition
  bool has_leases;        // false: a session or a connection keeps the locks
};

// The servers of a Sentinel group count as one: all the work depends on its master.
constexpr sized_store sized_stores[] = {
    {"mysql", "servers", 1, true},
    {"zookeeper", "servers", 1, false},
    {"zookeeper-3", "ensembles of 3", 3, false},
    {"redis", "shards", 1, true},
    {"sentinel", "groups of 3", 1, true},
    {"cluster", "clusters of 3 masters", 3, true},
    {"redlock", "groups of 5", 5, true},
};

constexpr double planned_load = 0.5;  // of a server's one thread
constexpr double loads_per_second[] = {1e3, 1e5, 1e7};
constexpr double many_leases = 1e8;
constexpr double renewals_per_second = many_leases * 3 / 1800;  // three in a ttl of 30 min

std::string units_for(double per_second, double server_us, double servers) {
  const double needed = per_second * server_us / 1e6 / (planned_load * servers);
  const auto units = static_cast<long long>(std::ceil(std::max(needed, 1.0)));
  return units >= 100 ? figure(static_cast<double>(units)) : std::to_string(units);
}

bool is_renewed(const sized_store& store, const cell& c) {
  constexpr std::string_view never_renewed[] = {"for-update", "named", "redisson-lease"};
  return store.has_leases && !is_optimistic(c) &&
         std::ranges::find(never_renewed, std::string_view(c.lock)) == std::end(never_renewed);
}

// The rows of a table are on the disk, and the server's memory does not grow with them.
bool is_on_disk(const cell& c) {
  return c.topology == "mysql" && (c.lock == "row" || c.lock == "insert");
}

std::string gigabytes_held(const results& r, const cell& like) {
  const cell* held = find_measured(r, like.topology, like.lock, "held");
  if (!held || is_on_disk(like)) return "-";
  const double bytes = median(each(*held, [](const measurement& m) { return m.server_memory; }));
  return bytes > 0 ? figure(bytes * many_leases / 1e9) : "-";
}

}  // namespace

table size_table(const results& r) {
  table rows{{"store", "lock", "counted", "10³ per second", "10⁵ per second", "10⁷ per second",
              "10⁸ renewed", "10⁸ held, GB"}};
  for (const cell& c : r.cells) {
    const auto store =
        std::ranges::find(sized_stores, std::string_view(c.topology), &sized_store::topology);
    if (c.load != "separate-64" || c.is_unsafe || c.runs.empty()) continue;
    const double server_us = server_us_per_acquisition(c);
    if (store == std::end(sized_stores) || server_us <= 0) continue;
    std::vector<std::string> row{c.topology, c.lock, std::string(store->unit)};
    for (const double per_second : loads_per_second)
      row.push_back(units_for(per_second, server_us, store->servers));
    row.push_back(is_renewed(*store, c) ? units_for(renewals_per_second, server_us, store->servers)
                                        : "-");
    row.push_back(gigabytes_held(r, c));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace survey
