// The figures of a drill, from the history of its workers.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "history/history.hpp"

namespace holdfast::cli {

struct drill_figures {
  std::size_t calls = 0, grants = 0, losses = 0;
  // The writes of holders whose last check was true, and those that workers plant after a release.
  // The fencing token refused some of them: without it they would be stale writes.
  std::size_t writes = 0, planted_writes = 0;
  std::size_t refused_writes = 0, refused_planted_writes = 0;
  std::size_t stale_writes = 0;  // of both kinds: accepted although a later holder had written
  std::size_t overlaps = 0;      // times that two holders believed in one lock
  std::size_t other_violations = 0;
  // Exclusive locks only. From the call of the release to the grant of a waiter in another process.
  std::vector<std::chrono::nanoseconds> hand_offs{};
  // From the deadline of a holder that was killed or lost its lease to the next grant.
  std::vector<std::chrono::nanoseconds> margins{};
  // The notice of a loss is the request of loss_token(), at a holder that lives. The times from it
  // to the next grant in another process, and from the deadline to it, are negative where the order
  // is reversed.
  std::vector<std::chrono::nanoseconds> notices_before_grant{}, notices_after_deadline{};
};

// `lapse`: how long the store may keep the lock of a dead holder.
// `readers_share_a_token`: see history::check_options.
drill_figures figures_of(std::span<const history::record>, std::chrono::nanoseconds lapse,
                         bool readers_share_a_token);

// The value that a share of the values does not exceed: 0.5 for the median. Of none: 0.
std::chrono::nanoseconds quantile(std::vector<std::chrono::nanoseconds>, double share);

}  // namespace holdfast::cli
