// Distinguishes a fork's child from its parent.
#pragma once
#include <cstdint>

namespace holdfast::io {

// A number that is constant for the life of a process and different in the child of a fork(), also
// of a bare clone() that runs no atfork handler. Costs two loads. Never 0, except where the kernel
// cannot zero the page (before Linux 4.14): then always 0. Safe from any thread.
std::uint32_t fork_mark() noexcept;

}  // namespace holdfast::io
