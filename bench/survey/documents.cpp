#include "survey/documents.hpp"

#include <algorithm>

#include "survey/columns.hpp"

namespace survey {
namespace {

// A line of the table, and the cell that fills it.
struct documented_lock {
  std::string_view system, lock;  // as the articles call them
  std::string_view topology, row;
};

constexpr documented_lock documented_locks[] = {
    {"MySQL", "optimistic, by version", "mysql", "version"},
    {"MySQL", "optimistic, by update time", "mysql", "update-time"},
    {"MySQL", "pessimistic", "mysql", "for-update"},
    {"ZooKeeper, one server", "sequential nodes", "zookeeper", "sequence"},
    {"ZooKeeper, ensemble", "sequential nodes", "zookeeper-3", "sequence"},
    {"Redis Cluster", "setNx", "cluster", "setnx"},
    {"Redis Cluster", "Lua", "cluster", "lua"},
    {"Redis Cluster", "Redisson", "cluster", "redisson"},
    {"Redis Sentinel", "setNx", "sentinel", "setnx"},
    {"Redis Sentinel", "Lua", "sentinel", "lua"},
    {"Redis Sentinel", "Redisson", "sentinel", "redisson"},
    {"Redis, one server", "setNx", "redis", "setnx"},
    {"Redis, one server", "Lua", "redis", "lua"},
    {"Redis, one server", "Redisson", "redis", "redisson"},
};

constexpr std::string_view filled_columns[] = {"success", "per second", "samples", "result"};

std::string text_of_column(const cell& c, std::string_view title) {
  return std::ranges::find(columns(), title, &column::title)->text(c);
}

}  // namespace

table documents_table(const results& r) {
  table rows{{"system", "lock", "success", "per second", "samples", "result"}};
  for (const documented_lock& l : documented_locks) {
    const cell* found = find_measured(r, l.topology, l.row, "documents");
    if (!found) continue;
    rows.push_back({std::string(l.system), std::string(l.lock)});
    for (const std::string_view title : filled_columns)
      rows.back().push_back(text_of_column(*found, title));
  }
  return rows;
}

}  // namespace survey
