// One process of a hand-off contest.
#include <holdfast/holdfast.hpp>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_flock.hpp"
#include "handoff.hpp"
#include "handoff_arena.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "redis/bare_limits.hpp"
#include "redis/bare_redlock.hpp"
#endif

namespace bench {
namespace {

struct seat {
  int process = 0;
  unsigned threads = 1;
};

// One turn after the other with a lock that all take alone.
template <class Lock>
struct alone {
  explicit alone(Lock& l) : lock(l) {}
  void take_turn(const mapped_arena& arena, const seat& mine, unsigned worker) {
    std::lock_guard guard(lock);
    arena->visit(mine.process, worker);
  }
  Lock& lock;
};

// Nine in ten turns only read, each worker at turns of its own. Each holder waits a while, as for a
// query: where nothing is done inside, nobody gains by sharing.
struct mostly_reading {
  static constexpr std::chrono::microseconds inside{200};
  holdfast::shared_mutex& lock;
  bool shares;
  std::minstd_rand draw;
  void take_turn(const mapped_arena& arena, const seat& mine, unsigned worker) {
    if (draw() % 10 == 0) {
      std::lock_guard guard(lock);
      std::this_thread::sleep_for(inside);
      arena->visit(mine.process, worker);
    } else if (shares) {
      std::shared_lock guard(lock);
      std::this_thread::sleep_for(inside);
      arena->read(worker);
    } else {
      std::lock_guard guard(lock);
      std::this_thread::sleep_for(inside);
      arena->read(worker);
    }
  }
};

template <class Player>
void take_turns(Player player, const mapped_arena& arena, const seat& mine, unsigned worker,
                std::atomic<bool>& had_it) {
  while (!arena->stop.load(std::memory_order_relaxed)) {
    player.take_turn(arena, mine, worker);
    if (!had_it.load(std::memory_order_relaxed) && !had_it.exchange(true)) arena->started += 1;
  }
}

// `use` is called on each thread with the number of its worker and a function to call with how it
// takes a turn.
template <class Use>
void take_turns_in_threads(const mapped_arena& arena, const seat& mine, Use use) {
  std::atomic<bool> had_it{false};
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < mine.threads; ++i) {
    const unsigned worker = static_cast<unsigned>(mine.process) * mine.threads + i;
    all.emplace_back([&, worker] {
      use(worker, [&](auto player) { take_turns(player, arena, mine, worker, had_it); });
    });
  }
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
    take_turns_in_threads(arena, mine, [&](unsigned, auto use) { use(alone(lock)); });
#ifdef HOLDFAST_WITH_REDIS
  } else if (kind == "token") {
    take_turns_in_threads(arena, mine, [&](unsigned, auto use) {
      token_lock lock(std::atoi(argv[1]));
      use(alone(lock));
    });
  } else if (kind == "sequential redlock") {
    take_turns_in_threads(arena, mine, [&](unsigned, auto use) {
      sequential_redlock lock(argv[1]);
      use(alone(lock));
    });
#endif
  } else if (kind == "mutex") {
    const auto client = holdfast::client::open(argv[1]);
    auto lock = client.mutex("bench");
    take_turns_in_threads(arena, mine, [&](unsigned, auto use) { use(alone(lock)); });
  } else {
    const auto client = holdfast::client::open(argv[1]);
    auto lock = client.shared_mutex("bench");
    take_turns_in_threads(arena, mine, [&](unsigned worker, auto use) {
      if (kind == "holdfast") return use(alone(lock));
      use(mostly_reading{lock, kind == "readers", std::minstd_rand(worker + 1)});
    });
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "holdfast-bench: a worker process: %s\n", e.what());
  return 70;
}

}  // namespace bench
