// The machine on which the survey runs, and how its processors spend their time.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace survey {

// Seconds of processor time until now.
struct processor_times {
  // `own` is that of this process and of its clients' programs.
  processor_times(const std::vector<pid_t>& servers, const std::vector<pid_t>& clients);
  // `own` is that of all processes of this one's group, and of their children that have ended.
  static processor_times of_process_group();
  // The part of all processors that other programs used between the two readings, 0 to 1.
  double share_of_others(const processor_times& earlier) const;

  double own = 0, servers = 0;
  double busy = 0, all = 0;  // of the machine; busy: not idle

 private:
  processor_times() = default;
  void read_machine();
};

struct machine {
  std::string processor, kernel, system;
  unsigned processors = 0;
  static machine here();
};

}  // namespace survey
