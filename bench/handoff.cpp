#include "handoff.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "handoff_arena.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

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
  const auto end = clock::now() + 20s;
  while (arena->started.load() < workers.size()) {
    for (child_process& w : workers)
      if (w.wait_for(0ms) >= 0) throw std::runtime_error("a worker process ended too early");
    if (clock::now() > end)
      throw std::runtime_error("a worker process has not had the lock within 20 s");
    std::this_thread::sleep_for(2ms);
  }
}

}  // namespace

mapped_arena::mapped_arena(int descriptor) {
  void* const at =
      mmap(nullptr, sizeof(handoff_arena), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  arena_ = static_cast<handoff_arena*>(at);
}

mapped_arena::~mapped_arena() { munmap(arena_, sizeof *arena_); }

outcome run_party(const party& p, seconds length) {
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

  const auto opened = clock::now();
  const auto handoffs = arena->handoffs.load();
  const auto cycles = arena->cycles.load();
  std::this_thread::sleep_for(length);
  const auto handoffs_made = arena->handoffs.load() - handoffs;
  const auto cycles_made = arena->cycles.load() - cycles;
  const seconds passed = clock::now() - opened;

  arena->stop = true;
  for (child_process& w : workers) {
    const int code = w.wait_for(20s);
    if (code == 0) continue;
    throw std::runtime_error(code < 0 ? "a worker process does not end"
                                      : "a worker process failed: " + std::to_string(code));
  }
  return {static_cast<double>(handoffs_made) / passed.count(),
          {{"cycles/s", static_cast<double>(cycles_made) / passed.count()}}};
}

}  // namespace bench
