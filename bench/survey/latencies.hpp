// Many measured times in little memory: counts in buckets 2 to 3 % wide, which can be added up and
// stored.
#pragma once
#include <chrono>
#include <cstdint>
#include <map>

namespace survey {

class latencies {
 public:
  void add(std::chrono::nanoseconds);
  void add(const latencies&);
  void add_bucket(int bucket, std::uint64_t count) { counts_[bucket] += count; }

  std::uint64_t count() const;
  // The time that this fraction of the samples does not exceed, in microseconds; 0 without samples.
  double quantile_us(double fraction) const;
  double mean_us() const;  // 0 without samples
  double variance_us2() const;
  const std::map<int, std::uint64_t>& buckets() const noexcept { return counts_; }
  static double upper_end_us(int bucket);  // of the times in a bucket

 private:
  double moment_us(int power) const;

  std::map<int, std::uint64_t> counts_;
};

}  // namespace survey
