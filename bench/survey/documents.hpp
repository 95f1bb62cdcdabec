// The table of the systems that articles about distributed locks compare without figures.
#pragma once
#include "survey/costs.hpp"

namespace survey {

// A row for each of its locks, after a row with the titles; no such row if the load that fills the
// table was not run.
table documents_table(const results&);

}  // namespace survey
