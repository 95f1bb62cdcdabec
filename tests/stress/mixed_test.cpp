// Readers, writers, holders of permits and of two locks at once, killed and stopped at random.
#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "contenders.hpp"
#include "mixed_player.hpp"
#include "run.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::history::operation;
using holdfast::history::record;
using holdfast::history::result;

class stress_mixed_modes_in_processes : public run {};

constexpr int processes = 8;
constexpr int threads = 2;  // of each process

// That every kind was held, and that of several readers and of permits some were held together.
bool has_all_kinds(const std::vector<record>& history) {
  int shares = 0, alone = 0, permits = 0, downgrades = 0, together = 0;
  std::set<std::pair<std::string, std::int64_t>> groups;
  for (const auto& r : history) {
    if (r.outcome != result::ok) continue;
    downgrades += r.what == operation::downgrade ? 1 : 0;
    if (r.what != operation::acquire) continue;
    (r.shared ? shares : r.of != 0 ? permits : alone) += 1;
    if (r.shared && !groups.emplace(r.lock, r.token).second) ++together;
  }
  return shares >= 20 && alone >= 20 && permits >= 10 && downgrades >= 3 && together >= 3;
}

TEST_F(stress_mixed_modes_in_processes, keep_every_promise_on_file) {
  const holdfast::testkit::scratch_folder locks;
  contenders all(seed, "file://" + locks.path().string(), threads, cast_of<mixed_player>());
  EXPECT_TRUE(
      all.harass({.processes = processes, .kills = 25, .apart = 150ms, .longest_pause = 100ms},
                 has_all_kinds))
      << "a participant waits for ever, or crashed";
  const auto history = all.history();
  EXPECT_TRUE(has_all_kinds(history));
  expect_sound(history, {.wake_bound = wake_bound}, seed);
}

#ifdef HOLDFAST_WITH_REDIS
TEST_F(stress_mixed_modes_in_processes, keep_every_promise_on_redis) {
  using holdfast::testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const redis_server server;
  const auto url = server.url() + "?ttl=500ms&op-timeout=400ms";
  contenders all(seed, url, threads, cast_of<mixed_player>());
  EXPECT_TRUE(
      all.harass({.processes = processes, .kills = 20, .apart = 300ms, .longest_pause = 900ms},
                 has_all_kinds))
      << "a participant waits for ever, or crashed";
  const auto history = all.history();
  EXPECT_TRUE(has_all_kinds(history));
  expect_sound(history, {.wake_bound = wake_bound, .lapse = 800ms}, seed);
}
#endif

}  // namespace
}  // namespace stress
