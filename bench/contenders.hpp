// Many threads of one process that want locks.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "process_meter.hpp"
#include "row.hpp"

namespace bench {

struct alignas(64) worker_count {
  std::atomic<std::uint64_t> cycles{0};
};

// Counts what happens in a window of `length` that opens when every worker has had the lock: before
// that the first ones to start run alone, and far too fast. Figures: acquisitions per second, and
// beside them the most and the fewest of one worker, as a ratio, and what processor time of this
// process one takes.
inline outcome count_contenders(const std::vector<worker_count>& counts, seconds length) {
  using clock = std::chrono::steady_clock;
  const auto snapshot = [&counts] {
    std::vector<std::uint64_t> now;
    for (const worker_count& c : counts) now.push_back(c.cycles.load(std::memory_order_relaxed));
    return now;
  };
  const auto waits = [](std::uint64_t n) { return n == 0; };
  for (auto now = snapshot(); std::any_of(now.begin(), now.end(), waits); now = snapshot())
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  std::this_thread::sleep_for(std::chrono::milliseconds{20});

  const auto opened = clock::now();
  const auto before = snapshot();
  const double cpu_before = process_cpu_seconds();
  std::this_thread::sleep_for(length);
  const auto after = snapshot();
  const double cpu = process_cpu_seconds() - cpu_before;
  const std::chrono::duration<double> passed = clock::now() - opened;

  std::uint64_t sum = 0, most = 0, fewest = UINT64_MAX;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint64_t n = after[i] - before[i];
    sum += n;
    most = std::max(most, n);
    fewest = std::min(fewest, n);
  }
  const double unfair = static_cast<double>(most) / std::max(static_cast<double>(fewest), 0.5);
  const auto cycles = static_cast<double>(sum);
  return {cycles / passed.count(),
          {{"max/min per worker", unfair}, {"CPU us per cycle", cpu * 1e6 / cycles}}};
}

// Thread i of `threads` locks and unlocks lock_of(i) without a pause.
template <class LockOf>
outcome run_contenders_on(LockOf lock_of, unsigned threads, seconds length) {
  std::vector<worker_count> counts(threads);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> contenders;
  for (unsigned i = 0; i < threads; ++i) {
    contenders.emplace_back([&lock = lock_of(i), &mine = counts[i], &stop] {
      std::uint64_t n = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        { std::lock_guard guard(lock); }
        mine.cycles.store(++n, std::memory_order_relaxed);
      }
    });
  }
  outcome o = count_contenders(counts, length);
  stop = true;
  return o;
}

constexpr unsigned few_contenders = 64, many_contenders = 2048, most_contenders = 4096;

template <class Lock>
outcome run_contenders(Lock& lock, unsigned threads, seconds length) {
  return run_contenders_on([&lock](unsigned) -> Lock& { return lock; }, threads, length);
}

}  // namespace bench
