#include "pinning.hpp"

#include <sched.h>

#include <cerrno>
#include <system_error>

namespace bench {

int pin_to(int cpus) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  cpu_set_t taken;
  CPU_ZERO(&taken);
  int count = 0;
  // From the top: the first CPU is where most interrupts arrive.
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && count < cpus; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &taken);
    ++count;
  }
  if (sched_setaffinity(0, sizeof taken, &taken) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
  return count;
}

}  // namespace bench
