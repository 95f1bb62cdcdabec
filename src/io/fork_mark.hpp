// Distinguishes a fork's child from its parent.
#pragma once
#include <cstdint>

namespace holdfast::io {

// A number that is constant for the life of a process and different in the child of a fork(). It
// differs even after a bare clone(), which runs no atfork handler, where the kernel supports
// MADV_WIPEONFORK (Linux 4.14). Costs two loads. 0 only when no page could be mapped. Safe from any
// thread.
std::uint32_t fork_mark() noexcept;

}  // namespace holdfast::io
