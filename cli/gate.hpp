// The gate in front of a job: this program again, between posix_spawn and the command, where a job
// has to tell its guardian that it exists before it runs.
#pragma once
#include <string>
#include <vector>

namespace holdfast::cli {

inline constexpr const char* gate_word = ":gate";
inline constexpr const char* own_program = "/proc/self/exe";

// page_fd: -1 when there is no guardian.
std::vector<std::string> gate_words(int page_fd, bool ignore_children);

// argv[0] is the gate's word. Returns the exit code when the command did not start.
int run_gate(int argc, char** argv);

// Says why the command cannot run and returns 126 or 127.
int cannot_run(const char* command, int error);

}  // namespace holdfast::cli
