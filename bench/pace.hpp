// The time of one cycle when one thread repeats it.
#pragma once
#include <chrono>
#include <vector>

#include "row.hpp"
#include "verdict.hpp"

namespace bench {

// Repeats `cycle` for `length` and returns the nanoseconds of one: the median over batches, so that
// the batches in which the machine was busy with something else do not count.
template <int batch = 1024, class Cycle>
double nanoseconds_per_cycle(seconds length, Cycle cycle) {
  using clock = std::chrono::steady_clock;
  constexpr std::size_t fewest_batches = 9;
  std::vector<double> each;
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(length);
  auto begun = clock::now();
  while (begun < end || each.size() < fewest_batches) {
    for (int i = 0; i < batch; ++i) cycle();
    const auto done = clock::now();
    each.push_back(std::chrono::duration<double, std::nano>(done - begun).count() / batch);
    begun = done;
  }
  return spread_of(std::move(each)).median;
}

}  // namespace bench
