// The activity of a program that does not end.
#pragma once
#include <sys/types.h>

#include <string>

namespace holdfast::cli_test {

// For the process and all that it started: each thread's name, the kernel function and the system
// call it waits in, and the open descriptors. A process that is gone is left out.
std::string hang_report(pid_t);

}  // namespace holdfast::cli_test
