// Shared by runs of random play: a seed, and the verdict on the recorded history.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "history/checker.hpp"

namespace stress {

// A waiter that has waited for so long while the lock was free has missed its wake-up; on a machine
// with many programs a thread that was woken may still take seconds to run.
inline constexpr std::chrono::seconds wake_bound{20};

// The value of HOLDFAST_STRESS_SEED; otherwise another one each time.
std::uint64_t seed_of_run();

// That the history breaks no promise. Called last: where the test has failed by then, for whatever
// reason, the history is kept, and the test says where.
void expect_sound(std::vector<holdfast::history::record>, const holdfast::history::check_options&,
                  std::uint64_t seed);

// Writes it to the folder HOLDFAST_TEST_KEEP, else to that of the test program. The file's path.
std::string keep_history(std::vector<holdfast::history::record>, std::uint64_t seed);

class run : public testing::Test {
 protected:
  const std::uint64_t seed = seed_of_run();

 private:
  const testing::ScopedTrace trace_{__FILE__, __LINE__,
                                    "HOLDFAST_STRESS_SEED=" + std::to_string(seed)};
};

}  // namespace stress
