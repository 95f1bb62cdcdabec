// Threads on a lease store that loses messages and stops clients at random.
#ifdef HOLDFAST_WITH_MEMORY
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "mixed_player.hpp"
#include "player.hpp"
#include "run.hpp"
#include "troupe.hpp"

namespace stress {
namespace {

using namespace std::chrono_literals;
using holdfast::history::operation;
using holdfast::history::record;
using holdfast::history::result;

constexpr std::size_t clients = 4;
constexpr std::size_t threads = 2;  // of each client
constexpr auto run_time = 5s;       // at least
constexpr auto longest_run = 60s;   // on a machine so slow that little has happened until then
constexpr auto ttl = 200ms;

class stress_threads_on_memory : public run {};
class stress_mixed_modes_in_threads : public run {};

bool was_put_to_the_test(const std::vector<record>& history) {
  int granted = 0, faults = 0;
  for (const auto& r : history) {
    granted += r.what == operation::acquire && r.outcome == result::ok ? 1 : 0;
    faults += r.outcome == result::lost ? 1 : 0;
    faults += r.what == operation::acquire && r.outcome == result::unknown ? 1 : 0;
  }
  return granted >= 50 && faults >= 1;
}

void keep_every_promise_in_bad_weather(const casting& cast, std::uint64_t seed) {
  holdfast::memory_store store("stress");
  store.set_latency(1ms);
  store.lose_at_random(seed, 0.03, 0);  // a push that is lost is made up for after 30 s only
  const auto url = store.url() + "?ttl=200ms&op-timeout=100ms&close-timeout=500ms";
  troupe all(std::vector(clients, url), threads, cast, seed);
  std::mt19937_64 numbers(seed);
  const auto elapsed = [began = std::chrono::steady_clock::now()] {
    return std::chrono::steady_clock::now() - began;
  };
  while (elapsed() < run_time || (elapsed() < longest_run && !was_put_to_the_test(all.history()))) {
    const auto& one = all.clients()[numbers() % clients];
    std::this_thread::sleep_for(std::chrono::milliseconds(numbers() % 300));
    store.stop_requests_of(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(200 + numbers() % 300));
    store.resume_requests_of(one);
  }
  store.lose_at_random(0, 0, 0);
  all.end();

  const auto history = all.history();
  EXPECT_TRUE(was_put_to_the_test(history));
  expect_sound(history, {.wake_bound = wake_bound, .lapse = ttl + 300ms}, seed);
}

TEST_F(stress_threads_on_memory, keep_every_promise_while_messages_are_lost) {
  keep_every_promise_in_bad_weather(cast_of<player>({.longest_work = 160ms}), seed);
}

TEST_F(stress_mixed_modes_in_threads, keep_every_promise_on_memory) {
  keep_every_promise_in_bad_weather(cast_of<mixed_player>({.longest_work = 160ms}), seed);
}

}  // namespace
}  // namespace stress
#endif
