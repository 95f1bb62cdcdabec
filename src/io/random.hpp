// Random bytes of the kernel, fetched 4 KiB at a time.
#pragma once
#include <cstddef>
#include <span>

namespace holdfast::io {

// Fills `out`. No byte is ever given out twice, neither to another thread nor in a fork's child.
// Ends the process when the kernel has no random numbers: an owner id that repeats would let two
// in. Safe from any thread.
void fill_random(std::span<std::byte> out) noexcept;

}  // namespace holdfast::io
