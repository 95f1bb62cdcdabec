// All rows in turn, each in a process of its own.
#pragma once
#include <string>
#include <vector>

#include "bars.hpp"
#include "runner.hpp"

namespace bench {

// Runs "holdfast-bench ratio NAME OPTIONS..." for every row that the file at `path` lacks, and
// prints a table of all results. The options have to name that file. True when every row met its
// bar or was skipped.
bool run_all_rows(const std::vector<bar>&, const std::vector<std::string>& options, const settings&,
                  const std::string& path);

}  // namespace bench
