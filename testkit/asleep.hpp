// Is somebody waiting yet? Without a sleep that hopes so.
#pragma once
#include <sys/types.h>

#include <chrono>

namespace holdfast::testkit {

// Waits until the thread sleeps in the kernel and stays there: a caller who is known to have called
// is then in its wait. False when that does not come within `bound`.
bool falls_asleep(pid_t process, pid_t thread,
                  std::chrono::milliseconds bound = std::chrono::seconds(40));

}  // namespace holdfast::testkit
