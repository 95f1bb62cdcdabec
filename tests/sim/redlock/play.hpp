// Plays a schedule of Redlock: clients of several independent masters.
#pragma once
#include <cstdint>
#include <iosfwd>

#include "tests/sim/machine/result.hpp"

namespace holdfast::sim {

inline constexpr int usual_masters = 3, masters_max = 9;

result play_redlock(const plan&, std::ostream* trace = nullptr, recording = recording::off);
plan draw_redlock(std::uint64_t seed, int masters = usual_masters);

}  // namespace holdfast::sim
