// The pauses of a recipe between two requests of the same kind.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/environment.hpp"

namespace holdfast::claims {

// Returns `first`, doubled `times` times, but no more than `limit`.
constexpr base::duration doubled(base::duration first, unsigned times,
                                 base::duration limit) noexcept {
  return std::min(limit, first * (1 << std::min(times, 20u)));
}

constexpr void count_up(std::uint8_t& times) noexcept {
  if (times < 255) ++times;
}

// Before a request is repeated that the server did not execute.
inline constexpr base::duration failed_pause_min = std::chrono::milliseconds{20};
inline constexpr base::duration failed_pause_max = std::chrono::seconds{2};

}  // namespace holdfast::claims
