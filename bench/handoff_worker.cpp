// One process of a hand-off contest.
#include <holdfast/holdfast.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_flock.hpp"
#include "handoff.hpp"
#include "handoff_arena.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "redis/bare_limits.hpp"
#endif

namespace bench {
namespace {

struct seat {
  int process = 0;
  unsigned threads = 1;
};

template <class Lock>
void take_turns(Lock& lock, const mapped_arena& arena, const seat& mine, unsigned thread,
                std::atomic<bool>& had_it) {
  const unsigned worker = static_cast<unsigned>(mine.process) * mine.threads + thread;
  while (!arena->stop.load(std::memory_order_relaxed)) {
    {
      std::lock_guard guard(lock);
      arena->visit(mine.process, worker);
    }
    if (!had_it.load(std::memory_order_relaxed) && !had_it.exchange(true)) arena->started += 1;
  }
}

// `use` is called on each thread with a function to call with the lock.
template <class Use>
void take_turns_in_threads(const mapped_arena& arena, const seat& mine, Use use) {
  std::atomic<bool> had_it{false};
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < mine.threads; ++i)
    all.emplace_back(
        [&, i] { use([&](auto& lock) { take_turns(lock, arena, mine, i, had_it); }); });
}

}  // namespace

int worker_main(int argc, char** argv) try {
  if (argc != 5) return 64;
  // A killed bench leaves no workers behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string_view kind = argv[0];
  const mapped_arena arena(std::atoi(argv[2]));
  const seat mine{std::atoi(argv[3]), static_cast<unsigned>(std::atoi(argv[4]))};
  if (kind == "flock") {
    bare_flock lock(argv[1]);
    take_turns_in_threads(arena, mine, [&](auto use) { use(lock); });
#ifdef HOLDFAST_WITH_REDIS
  } else if (kind == "token") {
    take_turns_in_threads(arena, mine, [&](auto use) {
      token_lock lock(std::atoi(argv[1]));
      use(lock);
    });
#endif
  } else {
    const auto client = holdfast::client::open(argv[1]);
    auto mutex = client.mutex("bench");
    take_turns_in_threads(arena, mine, [&](auto use) { use(mutex); });
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "holdfast_bench: a worker process: %s\n", e.what());
  return 70;
}

}  // namespace bench
