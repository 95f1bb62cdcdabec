// A process with hundreds of callers that wait for one lock.
#pragma once
#include <cstdint>
#include <string>

namespace holdfast::torture {

struct many_waiters_terms {
  std::string url, name, history;  // the last one is a path
  std::uint64_t seed = 0;
};

// Each caller acquires the lock once, or gives up after its time. Prints what is wrong. The exit
// code of the process: 0: nothing is.
int run_many_waiters(const many_waiters_terms&);

}  // namespace holdfast::torture
