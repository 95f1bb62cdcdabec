// How many servers a load needs, from the measured costs of an acquisition.
#pragma once
#include "survey/costs.hpp"

namespace survey {

// A row for each lock, after a row with the titles.
table size_table(const results&);

}  // namespace survey
