// Processes with threads on lock files, killed and stopped at random.
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "contenders.hpp"
#include "player.hpp"
#include "run.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::history::operation;
using holdfast::history::result;

constexpr int processes = 4;
constexpr int threads = 3;
constexpr int kills = 25;

class stress_processes_on_lock_files : public run {};

TEST_F(stress_processes_on_lock_files, keep_every_promise_while_they_are_killed_and_stopped) {
  const holdfast::testkit::scratch_folder locks;
  contenders all(seed, "file://" + locks.path().string(), threads, cast_of<player>());
  for (int i = 0; i < processes; ++i) all.add();
  for (int n = 0; n < kills; ++n) {
    std::this_thread::sleep_for(150ms);
    all.pause_one(100ms);
    all.kill_one();
    all.add();
  }
  EXPECT_TRUE(all.finish()) << "somebody waits for ever, or crashed";

  const auto history = all.history();
  std::set<std::string> holders;
  for (const auto& r : history) {
    if (r.what == operation::acquire && r.outcome == result::ok) holders.insert(r.process);
    EXPECT_FALSE(r.what == operation::write && r.outcome == result::refused)
        << "a living holder had an old token: " << to_line(r);
    EXPECT_FALSE(r.what == operation::acquire && r.outcome == result::unknown) << to_line(r);
    EXPECT_FALSE(r.what == operation::check && r.outcome != result::ok) << to_line(r);
  }
  EXPECT_GE(holders.size(), std::size_t{processes} * threads);
  expect_sound(history, {.wake_bound = wake_bound}, seed);
}

}  // namespace
}  // namespace stress
