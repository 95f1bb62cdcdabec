// Seeded choices.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>

namespace holdfast::contention {

class dice {
 public:
  explicit dice(std::uint64_t seed) : numbers_(seed) {}

  std::uint64_t number() { return numbers_(); }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(numbers_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }
  std::chrono::milliseconds between(std::chrono::milliseconds least,
                                    std::chrono::milliseconds most) {
    const auto span = static_cast<std::size_t>((most - least).count()) + 1;
    return least + std::chrono::milliseconds(below(span));
  }

 private:
  std::mt19937_64 numbers_;
};

}  // namespace holdfast::contention
