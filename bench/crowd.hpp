// Many threads of one process that want the same lock.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "row.hpp"

namespace bench {

struct alignas(64) worker_count {
  std::atomic<std::uint64_t> cycles{0};
};

// Each of `threads` threads locks and unlocks `lock` without a pause. Counted is what happens in a
// window of `length` that opens when every thread has had the lock: before that the first ones to
// start run alone, and far too fast. Figures: acquisitions per second, and beside them the most
// and the fewest of one thread, as a ratio.
template <class Lock>
outcome run_crowd(Lock& lock, unsigned threads, seconds length) {
  using clock = std::chrono::steady_clock;
  std::vector<worker_count> counts(threads);
  std::atomic<bool> stop{false};
  std::vector<std::jthread> crowd;
  for (worker_count& mine : counts) {
    crowd.emplace_back([&lock, &mine, &stop] {
      std::uint64_t n = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        { std::lock_guard guard(lock); }
        mine.cycles.store(++n, std::memory_order_relaxed);
      }
    });
  }
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
  std::this_thread::sleep_for(length);
  const auto after = snapshot();
  const std::chrono::duration<double> passed = clock::now() - opened;
  stop = true;
  crowd.clear();

  std::uint64_t sum = 0, most = 0, fewest = UINT64_MAX;
  for (unsigned i = 0; i < threads; ++i) {
    const std::uint64_t n = after[i] - before[i];
    sum += n;
    most = std::max(most, n);
    fewest = std::min(fewest, n);
  }
  const double unfair = static_cast<double>(most) / std::max(static_cast<double>(fewest), 0.5);
  return {static_cast<double>(sum) / passed.count(), {{"max/min per worker", unfair}}};
}

}  // namespace bench
