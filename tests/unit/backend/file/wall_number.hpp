// The wall clock of the recipe's tests, and the number that a file has from it.
#pragma once
#include <chrono>
#include <cstdint>

namespace holdfast::file {

inline constexpr std::chrono::microseconds wall{1'700'000'000'000'000};
inline constexpr std::int64_t wall_number = wall.count();

}  // namespace holdfast::file
