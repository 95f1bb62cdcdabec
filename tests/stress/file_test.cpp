// Processes with threads on lock files, killed and stopped at random.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "contenders.hpp"
#include "player.hpp"
#include "run.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::history::operation;
using holdfast::history::record;
using holdfast::history::result;

constexpr int processes = 4;
constexpr int threads = 3;

class stress_processes_on_lock_files : public run {};

TEST_F(stress_processes_on_lock_files, keep_every_promise_while_they_are_killed_and_stopped) {
  const holdfast::testkit::scratch_folder locks;
  contenders all(seed, "file://" + locks.path().string(), threads, cast_of<player>());
  const auto many_held = [](const std::vector<record>& history) {
    std::set<std::string> holders;
    for (const auto& r : history)
      if (r.what == operation::acquire && r.outcome == result::ok) holders.insert(r.process);
    return holders.size() >= std::size_t{processes} * threads;
  };
  EXPECT_TRUE(
      all.harass({.processes = processes, .kills = 25, .apart = 150ms, .longest_pause = 100ms},
                 many_held))
      << "a participant waits for ever, or crashed";

  const auto history = all.history();
  for (const auto& r : history) {
    EXPECT_FALSE(r.what == operation::write && r.outcome == result::refused)
        << "a living holder had an old token: " << to_line(r);
    EXPECT_FALSE(r.what == operation::acquire && r.outcome == result::unknown) << to_line(r);
    EXPECT_FALSE(r.what == operation::check && r.outcome != result::ok) << to_line(r);
  }
  EXPECT_TRUE(many_held(history));
  expect_sound(history, {.wake_bound = wake_bound}, seed);
}

}  // namespace
}  // namespace stress
