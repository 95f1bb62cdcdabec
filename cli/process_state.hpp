// What has become of a process that left a recording.
#pragma once
#include <cstdint>

namespace holdfast::cli {

enum class process_state { running, stopped, ended, unknown };

// `start`: field 22 of /proc/PID/stat, so that a later process with the same number is another one.
// Unknown: the number is of another PID namespace.
process_state state_of(std::int64_t pid, std::uint64_t start, std::uint64_t pid_namespace);

}  // namespace holdfast::cli
