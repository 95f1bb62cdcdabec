// All rows in turn, each in a process of its own.
#pragma once
#include <string>
#include <vector>

#include "bars.hpp"

namespace bench {

// Runs "holdfast_bench ratio NAME OPTIONS..." for every row, passes on what each prints, and prints
// a table of what came of them. True when every one met its bar.
bool run_all_rows(const std::vector<bar>&, const std::vector<std::string>& options);

}  // namespace bench
