// The costs of an acquisition and of a held lock.
#pragma once
#include <string>
#include <vector>

#include "survey/survey.hpp"

namespace survey {

using table = std::vector<std::vector<std::string>>;

// A row for each lock, after a row with the titles.
table cost_table(const results&);

}  // namespace survey
