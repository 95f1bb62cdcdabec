// Processes that take one lock from each other, and the count of how often it changes hands.
#pragma once
#include <cstdint>
#include <string>

#include "row.hpp"

namespace bench {

struct contender {
  // "flock" opens a file, "holdfast" a URL, "mutex" the URL of a layout without shares, "token" the
  // token of a Redis server on a port of 127.0.0.1, "sequential redlock" a Redlock on several ports
  // of it, whose masters are tried one after the other. "readers" opens a URL too, and nine in ten
  // turns are a share; with "as readers" the same turns are exclusive.
  std::string kind;
  std::string where;
  unsigned processes = 4;
  unsigned threads = 1;  // of each process
};

struct contender_outcome {
  double handoffs = 0;       // per second: the holder is another process than the holder before it
  double cycles = 0;         // acquisitions per second
  double unfairness = 0;     // the most of them by one thread, as a ratio to the fewest
  std::uint64_t in_all = 0;  // acquisitions, also before and after what was timed
};

// Starts the processes and counts for `length`. The last owner and the counts stand in memory that
// all share and are written under the lock. Throws when a worker fails or hangs.
contender_outcome run_contender(const contender&, seconds length);

// The main function of a worker process. It gets the command line without the first two words.
int worker_main(int argc, char** argv);
inline constexpr const char* worker_command = "handoff-worker";

}  // namespace bench
