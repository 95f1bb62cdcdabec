// Plays the memory store through the seam, on one thread with a clock moved by hand, and digests
// the answers, to compare two builds. The simulator judges; this does not.
#pragma once
#include <cstdint>
#include <iosfwd>

namespace holdfast::sim {

// What is digested: each verb, each call of a sink, what inspect() finds, and after each step when
// the next alarm is due and how many random bytes were drawn. It is digested as the lines of the
// trace: to change their wording is to change every digest.
std::uint64_t play_memory(std::uint64_t seed, std::ostream* trace = nullptr);

}  // namespace holdfast::sim
