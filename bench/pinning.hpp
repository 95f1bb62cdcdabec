// Keeps a run on a known number of CPUs.
#pragma once

namespace bench {

// Pins this thread, and with it every thread and process that it starts from now on, to `cpus` of
// the CPUs that the process may use. Fewer are there: takes them all. Returns how many it took.
// Throws std::system_error.
int pin_to(int cpus);

}  // namespace bench
