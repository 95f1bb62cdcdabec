// Threads on a lease store that loses messages and stops clients at random.
#ifdef HOLDFAST_WITH_MEMORY
#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

#include "player.hpp"
#include "testkit/checker.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::testkit::operation;
using holdfast::testkit::result;

constexpr int clients = 4;
constexpr int threads = 2;  // of each client
constexpr auto run_time = 5s;
constexpr auto ttl = 200ms;

TEST(stress_threads_on_memory, keep_every_promise_while_messages_are_lost) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("HOLDFAST_STRESS_SEED=" + std::to_string(seed));
  const scratch_folder folder;
  holdfast::testkit::history_writer writer(folder.path() + "/history");
  guarded_resource resource;
  holdfast::memory_store store("stress");
  std::deque<holdfast::client> all;
  const auto url = store.url() + "?ttl=200ms&op-timeout=100ms&close-timeout=500ms";
  for (int i = 0; i < clients; ++i) all.push_back(holdfast::client::open(url));
  store.set_latency(1ms);
  store.lose_at_random(seed, 0.03, 0);  // a push that is lost is made up for after 30 s only

  std::atomic<bool> over{false};
  std::vector<std::jthread> crowd;
  for (int i = 0; i < clients * threads; ++i) {
    crowd.emplace_back([&, i] {
      player one(all[static_cast<std::size_t>(i % clients)],
                 "client" + std::to_string(i % clients) + "." + std::to_string(i), writer, resource,
                 {.longest_work = 160ms}, seed + static_cast<std::uint64_t>(i));
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
  crowd.clear();

  const auto history = holdfast::testkit::read_history(folder.path() + "/history").records;
  int granted = 0, faults = 0;
  for (const auto& r : history) {
    granted += r.what == operation::acquire && r.outcome == result::ok ? 1 : 0;
    faults += r.outcome == result::lost ? 1 : 0;
    faults += r.what == operation::acquire && r.outcome == result::unknown ? 1 : 0;
  }
  RecordProperty("records", static_cast<int>(history.size()));
  EXPECT_GE(granted, 50);
  EXPECT_GE(faults, 1) << "nothing was put to the test";
  EXPECT_EQ(to_text(check(history, {.wake_bound = 3s, .lapse = ttl + 300ms})), "");
}

}  // namespace
}  // namespace stress
#endif
