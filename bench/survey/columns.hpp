// The columns of the survey's tables.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "survey/load.hpp"
#include "survey/survey.hpp"

namespace survey {

struct column {
  std::string_view title;
  bool is_narrow;  // also in the table of a terminal
  std::string (*text)(const cell&);
};

std::span<const column> columns() noexcept;
std::string figure(double);  // three digits: "0.125", "12.5", "1,250"

// nullptr: it has no runs.
const cell* find_measured(const results&, std::string_view topology, std::string_view lock,
                          std::string_view load);

// The loads that have cells, in their order.
std::vector<const load*> loads_in(const results&);
std::string summary_of(const results&);  // machine, versions and what was disturbed, as lines

}  // namespace survey
