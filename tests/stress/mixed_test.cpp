// Readers, writers, holders of permits and of two locks at once, killed and stopped at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include "crowd.hpp"
#include "mixed_player.hpp"
#include "testkit/checker.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "testkit/servers/redis_server.hpp"
#endif

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::testkit::history_writer;
using holdfast::testkit::operation;
using holdfast::testkit::record;
using holdfast::testkit::result;

constexpr int processes = 8;
constexpr int threads = 2;  // of each process
constexpr auto run_time = 6s;

crowd::role players_on(const std::string& url, habits h) {
  return [url, h](const std::string& me, history_writer& writer, shared_state& shared,
                  std::uint64_t seed) {
    const auto client = holdfast::client::open(url);
    std::vector<std::jthread> all;
    for (int i = 0; i < threads; ++i) {
      all.emplace_back([&, i] {
        mixed_player one(client, me + "." + std::to_string(i), writer, shared.resource, h,
                         seed + static_cast<std::uint64_t>(i));
        while (!shared.over) one.play();
      });
    }
  };
}

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

void harass(crowd& all, int kills, std::chrono::milliseconds longest_pause) {
  for (int i = 0; i < processes; ++i) all.add();
  for (; kills > 0; --kills) {
    std::this_thread::sleep_for(150ms);
    all.pause_one(longest_pause);
    all.kill_one();
    all.add();
  }
  EXPECT_TRUE(all.finish()) << "somebody waits for ever, or crashed";
}

TEST(stress_mixed_modes_in_processes, keep_every_promise_on_file) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  const scratch_folder locks;
  crowd all(seed, players_on("file://" + locks.path(), {}));
  harass(all, 25, 100ms);
  const auto history = all.history();
  RecordProperty("records", static_cast<int>(history.size()));
  expect_all_kinds(history);
  EXPECT_EQ(to_text(check(history, {.wake_bound = 3s})), "");
}

#ifdef HOLDFAST_WITH_REDIS
TEST(stress_mixed_modes_in_processes, keep_every_promise_on_redis) {
  using holdfast::testkit::redis_server;
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  const redis_server server;
  crowd all(seed, players_on(server.url() + "?ttl=500ms&op-timeout=400ms", {}));
  harass(all, 10, 900ms);
  const auto history = all.history();
  RecordProperty("records", static_cast<int>(history.size()));
  expect_all_kinds(history);
  EXPECT_EQ(to_text(check(history, {.wake_bound = 5s, .lapse = 800ms})), "");
}
#endif

#ifdef HOLDFAST_WITH_MEMORY
TEST(stress_mixed_modes_in_threads, keep_every_promise_on_memory) {
  constexpr std::size_t clients = 4;
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  const scratch_folder folder;
  history_writer writer(folder.path() + "/history");
  guarded_resource resource;
  holdfast::memory_store store("mixed-stress");
  const auto url = store.url() + "?ttl=200ms&op-timeout=100ms&close-timeout=500ms";
  std::deque<holdfast::client> all;
  for (std::size_t i = 0; i < clients; ++i) all.push_back(holdfast::client::open(url));
  store.set_latency(1ms);
  store.lose_at_random(seed, 0.03, 0);  // a push that is lost is made up for after 30 s only

  std::atomic<bool> over{false};
  std::vector<std::jthread> players;
  for (std::size_t i = 0; i < clients * threads; ++i) {
    players.emplace_back([&, i] {
      const auto name = "client" + std::to_string(i % clients) + "." + std::to_string(i);
      mixed_player one(all[i % clients], name, writer, resource, {.longest_work = 160ms}, seed + i);
      while (!over) one.play();
    });
  }
  std::mt19937_64 numbers(seed);
  for (const auto until = std::chrono::steady_clock::now() + run_time;
       std::chrono::steady_clock::now() < until;) {
    auto& one = all[numbers() % clients];
    std::this_thread::sleep_for(std::chrono::milliseconds(numbers() % 300));
    store.stop_requests_of(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + numbers() % 300));
    store.resume_requests_of(one);
  }
  store.lose_at_random(0, 0, 0);
  over = true;
  players.clear();

  const auto history = holdfast::testkit::read_history(folder.path() + "/history").records;
  RecordProperty("records", static_cast<int>(history.size()));
  EXPECT_TRUE(std::ranges::any_of(history, [](const record& r) {
    const bool unanswered = r.what == operation::acquire && r.outcome == result::unknown;
    return unanswered || r.outcome == result::lost;
  })) << "nothing was put to the test";
  EXPECT_EQ(to_text(check(history, {.wake_bound = 3s, .lapse = 200ms + 300ms})), "");
}
#endif

}  // namespace
}  // namespace stress
