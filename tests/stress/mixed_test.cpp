// Readers, writers, holders of permits and of two locks at once, killed and stopped at random.
#include <gtest/gtest.h>

#include <set>
#include <thread>
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
void expect_all_kinds(const std::vector<record>& history) {
  int shares = 0, alone = 0, permits = 0, downgrades = 0, together = 0;
  std::set<std::pair<std::string, std::int64_t>> groups;
  for (const auto& r : history) {
    if (r.outcome != result::ok) continue;
    downgrades += r.what == operation::downgrade ? 1 : 0;
    if (r.what != operation::acquire) continue;
    (r.shared ? shares : r.of != 0 ? permits : alone) += 1;
    if (r.shared && !groups.emplace(r.lock, r.token).second) ++together;
  }
  EXPECT_GE(shares, 20);
  EXPECT_GE(alone, 20);
  EXPECT_GE(permits, 10);
  EXPECT_GE(downgrades, 3);
  EXPECT_GE(together, 3) << "no two readers were of one group";
}

void harass(contenders& all, int kills, std::chrono::milliseconds apart,
            std::chrono::milliseconds longest_pause) {
  for (int i = 0; i < processes; ++i) all.add();
  for (; kills > 0; --kills) {
    std::this_thread::sleep_for(apart);
    all.pause_one(longest_pause);
    all.kill_one();
    all.add();
  }
  EXPECT_TRUE(all.finish()) << "somebody waits for ever, or crashed";
}

TEST_F(stress_mixed_modes_in_processes, keep_every_promise_on_file) {
  const holdfast::testkit::scratch_folder locks;
  contenders all(seed, "file://" + locks.path().string(), threads, cast_of<mixed_player>());
  harass(all, 25, 150ms, 100ms);
  const auto history = all.history();
  expect_all_kinds(history);
  expect_sound(history, {.wake_bound = wake_bound}, seed);
}

#ifdef HOLDFAST_WITH_REDIS
TEST_F(stress_mixed_modes_in_processes, keep_every_promise_on_redis) {
  using holdfast::testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const redis_server server;
  const auto url = server.url() + "?ttl=500ms&op-timeout=400ms";
  contenders all(seed, url, threads, cast_of<mixed_player>());
  harass(all, 20, 300ms, 900ms);
  const auto history = all.history();
  expect_all_kinds(history);
  expect_sound(history, {.wake_bound = 5s, .lapse = 800ms}, seed);
}
#endif

}  // namespace
}  // namespace stress
