// The kernel's random bytes, read 4 KiB at a time.
#pragma once
#include <cstddef>
#include <span>

namespace holdfast::io {

// Fills `out`. No byte is given out twice, neither to another thread nor in a fork's child. Ends
// the process when the kernel has no random numbers: a repeated owner id would let two holders in.
// Safe from any thread.
void fill_random(std::span<std::byte> out) noexcept;

}  // namespace holdfast::io
