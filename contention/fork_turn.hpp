// A fork in a process that holds a lock.
#pragma once
#include <holdfast/lease.hpp>

#include <string>

namespace holdfast::contention {

// Forks. The child does nothing, or uses its copy of the lease: it must not hold the lock, and must
// not release it. Blocks until the child has ended, and returns the complaint about it; "": there
// is none.
std::string fork_while_holding(lease&, bool child_uses_lease);

}  // namespace holdfast::contention
