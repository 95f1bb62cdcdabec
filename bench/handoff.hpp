// Processes that take one lock from each other, and the count of how often it changes hands.
#pragma once
#include <string>

#include "row.hpp"

namespace bench {

struct party {
  std::string kind;   // "flock" or "holdfast": what a worker process opens
  std::string where;  // the file, or the URL
  unsigned processes = 4;
  unsigned threads = 1;  // of each process
};

// Starts the processes and counts for `length` how often the holder is another process than the
// holder before it; the last owner stands in memory that all share and is written under the lock.
// Figure: such hand-offs per second. Throws when a worker fails or hangs.
outcome run_party(const party&, seconds length);

// What a worker process does, with the words of its command line after the first two.
int worker_main(int argc, char** argv);
inline constexpr const char* worker_command = "handoff-worker";

}  // namespace bench
