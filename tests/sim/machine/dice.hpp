// The one source of chance in a schedule: everything drawn comes out of its seed.
#pragma once
#include <chrono>
#include <cstdint>

namespace holdfast::sim {

class dice {
 public:
  explicit dice(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {  // Steele, Lea, Flood: SplitMix64
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t n) noexcept { return n ? next() % n : 0; }
  double share() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  bool chance(double p) noexcept { return share() < p; }
  int between(int least, int most) noexcept {
    return least + static_cast<int>(below(static_cast<std::uint64_t>(most - least + 1)));
  }
  std::chrono::nanoseconds between(std::chrono::nanoseconds least,
                                   std::chrono::nanoseconds most) noexcept {
    return least + std::chrono::nanoseconds(static_cast<std::int64_t>(
                       below(static_cast<std::uint64_t>((most - least).count()) + 1)));
  }

 private:
  std::uint64_t state_;
};

}  // namespace holdfast::sim
