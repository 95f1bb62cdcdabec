// The holders of a lock and their times, as a history records them.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "history/history.hpp"

namespace holdfast::history {

struct claim_of_lock {
  const record* acquire = nullptr;  // or the downgrade that it is a share since
  std::int64_t start = 0;
  std::int64_t end = no_deadline;          // the holder believes in it until then at most
  std::int64_t deadline = no_deadline;     // as last recorded
  std::int64_t gone = no_deadline;         // the store has released it by then at the latest
  const record* gone_by = nullptr;         // the record that says so
  const record* lost_by = nullptr;         // the first that reported it lost
  std::int64_t noticed = no_deadline;      // when the library reported the loss to the holder
  std::vector<const record*> seen_held{};  // checks and renewals that came back ok

  bool empty() const noexcept { return end <= start; }
  bool is_share() const noexcept {
    return acquire->shared || acquire->what == operation::downgrade;
  }
  bool is_of_permits() const noexcept { return acquire->of != 0; }
};

struct lock_history {
  std::string lock;
  std::vector<const record*> records;  // by call
  std::vector<claim_of_lock> claims;   // by start
};

// Kills are spread over the locks of the killed. `lapse` as in check_options.
std::vector<lock_history> sort_by_lock(std::span<const record>, std::chrono::nanoseconds lapse);

std::int64_t later(std::int64_t time, std::chrono::nanoseconds by) noexcept;  // saturates

}  // namespace holdfast::history
