// The commands "ratio" and "list" of holdfast-bench.
#pragma once
#include <string>
#include <vector>

namespace bench {

// Returns the exit code. Throws usage_error, row_skipped, and what a row throws.
int ratio_command(const std::vector<std::string>& words);

}  // namespace bench
