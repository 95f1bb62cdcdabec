// Tells a fork's child from its parent.
#pragma once
#include <cstdint>

namespace holdfast::io {

// A number that stays the same for the life of a process and is another one in the child of a
// fork(), also of a bare clone() that runs no atfork handler. Costs two loads. Never 0, but where
// the kernel cannot tell (before Linux 4.14): 0 always. Safe from any thread.
std::uint32_t fork_mark() noexcept;

}  // namespace holdfast::io
