// The table that the documents about distributed locks leave to be measured.
#pragma once
#include "survey/costs.hpp"

namespace survey {

// A row for each of its locks, after a row with the titles; no such row if the load that fills the
// table was not run.
table documents_table(const results&);

}  // namespace survey
