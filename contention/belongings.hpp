// The descriptors and threads of a process, which closed clients must not leave behind.
#pragma once
#include <cstddef>
#include <string>

namespace holdfast::contention {

struct belongings {
  std::ptrdiff_t descriptors = 0, threads = 0;
  bool exceeds(const belongings& before) const {
    return descriptors > before.descriptors || threads > before.threads;
  }
};

belongings belongings_now();
// After the process has closed its clients: the complaint about what they have left; "": nothing.
// Blocks until nothing is left, or for some seconds.
std::string left_since(const belongings& before);

}  // namespace holdfast::contention
