#include "handoff.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <new>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "handoff_arena.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class shared_memory {
 public:
  shared_memory() : descriptor_(memfd_create("holdfast-bench", 0)) {
    if (descriptor_ < 0 || ftruncate(descriptor_, sizeof(handoff_arena)) != 0)
      throw std::system_error(errno, std::generic_category(), "memfd_create");
  }
  ~shared_memory() { close(descriptor_); }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

void wait_until_started(std::vector<child_process>& workers, const mapped_arena& arena) {
  const auto end = steady_clock::now() + 20s;
  while (arena->started.load() < workers.size()) {
    for (child_process& w : workers)
      if (w.wait_for(0ms) >= 0) throw std::runtime_error("a worker process ended too early");
    if (steady_clock::now() > end)
      throw std::runtime_error("a worker process has not had the lock within 20 s");
    std::this_thread::sleep_for(2ms);
  }
}

struct snapshot {
  steady_clock::time_point at = steady_clock::now();
  std::uint64_t handoffs, cycles = 0;
  std::vector<std::uint64_t> turns;

  snapshot(const mapped_arena& arena, const contender& p) : handoffs(arena->handoffs.load()) {
    for (unsigned i = 0; i < p.processes * p.threads; ++i) turns.push_back(arena->turns[i].load());
    cycles = std::accumulate(turns.begin(), turns.end(), std::uint64_t{0});
  }

  contender_outcome since(const snapshot& before, std::uint64_t in_all) const {
    const double passed = seconds(at - before.at).count();
    std::uint64_t most = 0, fewest = UINT64_MAX;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      most = std::max(most, turns[i] - before.turns[i]);
      fewest = std::min(fewest, turns[i] - before.turns[i]);
    }
    return {static_cast<double>(handoffs - before.handoffs) / passed,
            static_cast<double>(cycles - before.cycles) / passed,
            static_cast<double>(most) / std::max(static_cast<double>(fewest), 0.5), in_all};
  }
};

}  // namespace

mapped_arena::mapped_arena(int descriptor) {
  void* const at =
      mmap(nullptr, sizeof(handoff_arena), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  arena_ = static_cast<handoff_arena*>(at);
}

mapped_arena::~mapped_arena() { munmap(arena_, sizeof *arena_); }

contender_outcome run_contender(const contender& p, seconds length) {
  if (p.processes * p.threads > handoff_arena::most_workers)
    throw std::runtime_error("more workers than the arena counts");
  const shared_memory memory;
  const mapped_arena arena(memory.descriptor());
  new (arena.operator->()) handoff_arena;

  std::vector<child_process> workers;
  for (unsigned i = 0; i < p.processes; ++i)
    workers.emplace_back(std::vector<std::string>{own_program(), worker_command, p.kind, p.where,
                                                  std::to_string(memory.descriptor()),
                                                  std::to_string(i), std::to_string(p.threads)});
  wait_until_started(workers, arena);
  std::this_thread::sleep_for(20ms);

  const snapshot before(arena, p);
  std::this_thread::sleep_for(length);
  const snapshot after(arena, p);

  arena->stop = true;
  for (child_process& w : workers) {
    const int code = w.wait_for(20s);
    if (code == 0) continue;
    throw std::runtime_error(code < 0 ? "a worker process does not end"
                                      : "a worker process failed: " + std::to_string(code));
  }
  return after.since(before, snapshot(arena, p).cycles);
}

}  // namespace bench
