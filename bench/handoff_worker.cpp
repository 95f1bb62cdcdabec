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

namespace bench {
namespace {

template <class Lock>
void take_turns(Lock& lock, const mapped_arena& arena, int process, std::atomic<bool>& had_it) {
  while (!arena->stop.load(std::memory_order_relaxed)) {
    {
      std::lock_guard guard(lock);
      arena->visit(process);
    }
    if (!had_it.load(std::memory_order_relaxed) && !had_it.exchange(true)) arena->started += 1;
  }
}

template <class Lock>
void take_turns_in_threads(Lock& lock, const mapped_arena& arena, int process, unsigned threads) {
  std::atomic<bool> had_it{false};
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i)
    others.emplace_back([&] { take_turns(lock, arena, process, had_it); });
  take_turns(lock, arena, process, had_it);
}

}  // namespace

int worker_main(int argc, char** argv) try {
  if (argc != 5) return 64;
  // A killed bench leaves no workers behind.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string_view kind = argv[0];
  const mapped_arena arena(std::atoi(argv[2]));
  const int process = std::atoi(argv[3]);
  const auto threads = static_cast<unsigned>(std::atoi(argv[4]));
  if (kind == "flock") {
    bare_flock lock(argv[1]);
    take_turns_in_threads(lock, arena, process, threads);
  } else {
    const auto client = holdfast::client::open(argv[1]);
    auto mutex = client.mutex("bench");
    take_turns_in_threads(mutex, arena, process, threads);
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "holdfast_bench: a worker process: %s\n", e.what());
  return 70;
}

}  // namespace bench
