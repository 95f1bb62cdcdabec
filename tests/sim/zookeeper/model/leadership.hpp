// The state of a leader besides that of each server.
#pragma once
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/sim/zookeeper/model/session_tracker.hpp"
#include "tests/sim/zookeeper/model/tree.hpp"

namespace holdfast::sim::zk {

struct leadership {
  std::int64_t epoch = 0;
  session_tracker sessions;
  tree outstanding;                                   // with all that is proposed
  std::int64_t last_zxid = 0;                         // of those
  std::map<std::size_t, std::set<int>> acks;          // by the place of a proposal in the log
  std::map<int, moment> followers;                    // when each was heard last
  std::vector<std::pair<std::size_t, origin>> syncs;  // answered once so much of the log is applied
};

}  // namespace holdfast::sim::zk
