// A schedule that the simulator plays, on any store.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/machine/explorer.hpp"

namespace holdfast::sim {

struct playable {
  std::string name;
  drawing draw;
  player play;
  bool is_usual = false;
  int servers = 1;
  int replicas = 0;   // that have to confirm what counts
  int masters = 0;    // of a cluster; 0: there is none
  int sentinels = 0;  // that watch two servers
  std::string backend = "redis";
  bool has_mutexes = true;
};

// Empty: the usual one. None: it is not played.
std::optional<playable> playable_named(std::string_view layout);
// On two servers behind one name, or on a primary and a replica of MariaDB. `replicas`: of Redis,
// have to confirm what counts.
std::optional<playable> playable_of_two(std::string_view layout, int replicas = 0);
// Redis on two servers that sentinels watch.
std::optional<playable> playable_of_sentinels(std::string_view layout, int replicas = 0);
// In a cluster of so many masters.
std::optional<playable> playable_of_cluster(std::string_view layout, int masters);
// Redlock with so many masters.
playable playable_redlock(int masters);
// And each once more that may have two servers, two of which the replica has to confirm what
// counts, sentinels, or a cluster.
std::vector<playable> all_playable();
std::string title_of(const playable&);  // "string, 2 servers"
std::string playable_layouts();         // "string, lua"
// The same with all locks a mutex. None: the layout has no mutexes.
std::optional<playable> of_mutexes(playable);

}  // namespace holdfast::sim
