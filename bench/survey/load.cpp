#include "survey/load.hpp"

#include <algorithm>

namespace survey {
namespace {

using std::chrono::milliseconds;

// The queue of the model in docs/explanation/scaling.md: with enough workers, an arrival seldom
// finds its own worker busy.
constexpr load arrivals(std::string_view name, std::string_view what, milliseconds period) {
  constexpr unsigned workers = 24;
  constexpr milliseconds duration{1200};
  return {.name = name,
          .what = what,
          .workers = workers,
          .hold = milliseconds(2),
          .period = period,
          .is_random = true,
          .wait = milliseconds(5000),
          .attempts = static_cast<unsigned>(workers * duration / period)};
}

constexpr load all_loads[] = {
    {.name = "free", .what = "one worker, one free lock", .workers = 1, .in_quick = true},
    {.name = "free-1ms",
     .what = "one worker, one lock, held for 1 ms",
     .workers = 1,
     .hold = milliseconds(1)},
    {.name = "free-10ms",
     .what = "one worker, one lock, held for 10 ms",
     .workers = 1,
     .hold = milliseconds(10)},
    {.name = "separate-64",
     .what = "64 workers, each with a lock of its own",
     .workers = 64,
     .own_locks = true,
     .in_quick = true},
    {.name = "hot-2", .what = "2 workers, one lock, held for 0 ms", .workers = 2},
    {.name = "hot-8", .what = "8 workers, one lock, held for 0 ms", .workers = 8},
    {.name = "hot-16",
     .what = "16 workers, one lock, held for 0 ms",
     .workers = 16,
     .in_quick = true},
    {.name = "hot-32", .what = "32 workers, one lock, held for 0 ms", .workers = 32},
    {.name = "hot-64", .what = "64 workers, one lock, held for 0 ms", .workers = 64},
    {.name = "hot-256", .what = "256 workers, one lock, held for 0 ms", .workers = 256},
    {.name = "hot-16-1ms",
     .what = "16 workers, one lock, held for 1 ms",
     .workers = 16,
     .hold = milliseconds(1)},
    {.name = "hot-64-1ms",
     .what = "64 workers, one lock, held for 1 ms",
     .workers = 64,
     .hold = milliseconds(1)},
    {.name = "hot-256-1ms",
     .what = "256 workers, one lock, held for 1 ms",
     .workers = 256,
     .hold = milliseconds(1)},
    {.name = "hot-16-10ms",
     .what = "16 workers, one lock, held for 10 ms",
     .workers = 16,
     .hold = milliseconds(10)},
    {.name = "hot-64-10ms",
     .what = "64 workers, one lock, held for 10 ms",
     .workers = 64,
     .hold = milliseconds(10)},
    {.name = "hot-256-10ms",
     .what = "256 workers, one lock, held for 10 ms",
     .workers = 256,
     .hold = milliseconds(10)},
    {.name = "hot-64-wait",
     .what = "64 workers, one lock, held for 1 ms, a wait of 50 ms",
     .workers = 64,
     .hold = milliseconds(1),
     .wait = milliseconds(50)},
    {.name = "documents",
     .what = "10 workers, one lock, held for 1 ms, an attempt every 20 ms each, a wait of 100 ms",
     .workers = 10,
     .hold = milliseconds(1),
     .period = milliseconds(20),
     .wait = milliseconds(100),
     .attempts = 10'000,
     .in_quick = true},
    arrivals("arrivals-25", "24 workers, one lock, held for 2 ms, 125 random arrivals per second",
             milliseconds(192)),
    arrivals("arrivals-50", "24 workers, one lock, held for 2 ms, 250 random arrivals per second",
             milliseconds(96)),
    arrivals("arrivals-75", "24 workers, one lock, held for 2 ms, 375 random arrivals per second",
             milliseconds(64)),
    {.name = "held",
     .what = "250 locks, held together",
     .workers = 500,
     .own_locks = true,
     .wait = milliseconds(10'000),
     .keeps = true},
};

}  // namespace

std::span<const load> loads() noexcept { return all_loads; }

const load* find_load(std::string_view name) noexcept {
  const auto at = std::ranges::find(all_loads, name, &load::name);
  return at == std::end(all_loads) ? nullptr : at;
}

}  // namespace survey
