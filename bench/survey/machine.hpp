// The machine on which the survey runs, and how its processors spend their time.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace survey {

// Seconds of processor time until now.
struct processor_times {
  explicit processor_times(const std::vector<pid_t>& servers);
  // The part of all processors that other programs used between the two readings, 0 to 1.
  double share_of_others(const processor_times& earlier) const;

  double own = 0, servers = 0;
  double busy = 0, all = 0;  // of the machine; busy: not idle
};

struct machine {
  std::string processor, kernel, system;
  unsigned processors = 0;
  static machine here();
};

}  // namespace survey
