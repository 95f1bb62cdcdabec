#include "survey/latencies.hpp"

#include <algorithm>
#include <cmath>

namespace survey {

constexpr double buckets_per_doubling = 32;

void latencies::add(std::chrono::nanoseconds time) {
  const auto ns = static_cast<double>(time.count() < 1 ? 1 : time.count());
  ++counts_[static_cast<int>(std::log2(ns) * buckets_per_doubling)];
}

void latencies::add(const latencies& other) {
  for (const auto& [bucket, count] : other.counts_) counts_[bucket] += count;
}

std::uint64_t latencies::count() const {
  std::uint64_t all = 0;
  for (const auto& [bucket, count] : counts_) all += count;
  return all;
}

double latencies::moment_us(int power) const {
  double sum = 0;
  for (const auto& [bucket, count] : counts_) {
    const double middle = std::exp2((bucket + 0.5) / buckets_per_doubling) / 1000;
    sum += std::pow(middle, power) * static_cast<double>(count);
  }
  const auto samples = static_cast<double>(count());
  return samples > 0 ? sum / samples : 0;
}

double latencies::mean_us() const { return moment_us(1); }

double latencies::variance_us2() const {
  return std::max(0.0, moment_us(2) - moment_us(1) * moment_us(1));
}

double latencies::upper_end_us(int bucket) {
  return std::exp2((bucket + 1) / buckets_per_doubling) / 1000;
}

double latencies::quantile_us(double fraction) const {
  const double wanted = fraction * static_cast<double>(count());
  std::uint64_t below = 0;
  for (const auto& [bucket, count] : counts_) {
    below += count;
    if (static_cast<double>(below) >= wanted) return upper_end_us(bucket);
  }
  return 0;
}

}  // namespace survey
