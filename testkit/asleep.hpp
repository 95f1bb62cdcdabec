// Whether a thread waits already, found out without a sleep of a fixed length.
#pragma once
#include <sys/types.h>

#include <chrono>
#include <span>

namespace holdfast::testkit {

// Waits until the thread sleeps in the kernel and stays there: a caller who is known to have called
// is then in its wait. False when that does not come within `bound`.
bool falls_asleep(pid_t process, pid_t thread,
                  std::chrono::milliseconds bound = std::chrono::seconds(40));

// The same of all threads of this process that are given, looked at together.
bool all_fall_asleep(std::span<const pid_t> threads,
                     std::chrono::milliseconds bound = std::chrono::seconds(40));

}  // namespace holdfast::testkit
