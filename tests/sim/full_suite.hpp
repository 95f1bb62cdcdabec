// How much of a long series a test plays.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace holdfast::sim {

// A third of it in ./dev test --full, which sets HOLDFAST_FULL_SUITE, and an eighth otherwise.
// ./dev sim plays as much as one likes.
inline std::uint64_t share_of(std::uint64_t all) {
  return std::getenv("HOLDFAST_FULL_SUITE") ? (all + 2) / 3 : (all + 7) / 8;
}

}  // namespace holdfast::sim
