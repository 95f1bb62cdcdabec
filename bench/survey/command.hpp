// holdfast-bench survey.
#pragma once
#include <string>
#include <vector>

namespace survey {

// The words after "survey". Returns the exit code: 1 when two workers held one lock together, where
// the lock is not a demonstration. Throws bench::usage_error, and std::exception when it cannot be
// run.
int command(const std::vector<std::string>& words);

}  // namespace survey
