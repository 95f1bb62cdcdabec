// Processes with threads on lock files, killed and stopped at random.
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "crowd.hpp"
#include "player.hpp"
#include "testkit/checker.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::testkit::history_writer;
using holdfast::testkit::operation;
using holdfast::testkit::result;

constexpr int processes = 4;
constexpr int threads = 3;
constexpr auto run_time = 7s;

crowd::role players_on(const std::string& folder) {
  return [url = "file://" + folder](const std::string& me, history_writer& writer,
                                    shared_state& shared, std::uint64_t seed) {
    const auto client = holdfast::client::open(url);
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        player one(client, me + "." + std::to_string(i), writer, shared.resource, {}, seed + i);
        while (!shared.over) one.play();
      });
    }
  };
}

TEST(stress_processes_on_lock_files, keep_every_promise_while_they_are_killed_and_stopped) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  const scratch_folder locks;
  crowd all(seed, players_on(locks.path()));
  for (int i = 0; i < processes; ++i) all.add();
  int kills = 0;
  for (const auto until = std::chrono::steady_clock::now() + run_time;
       std::chrono::steady_clock::now() < until; ++kills) {
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
  RecordProperty("records", static_cast<int>(history.size()));
  EXPECT_GE(kills, 10);
  EXPECT_GE(holders.size(), std::size_t{processes} * threads);
  EXPECT_EQ(to_text(check(history, {.wake_bound = 3s})), "");
}

}  // namespace
}  // namespace stress
