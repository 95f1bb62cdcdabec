// Explores schedules of every backend and layout, and prints a table of them.
#pragma once
#include <cstdint>

namespace holdfast::sim {

// Plays each layout for so many minutes of processor time, from that seed on. Returns the number of
// violations.
std::uint64_t survey(double minutes_each, std::uint64_t seed);

}  // namespace holdfast::sim
