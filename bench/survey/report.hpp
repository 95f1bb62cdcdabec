// The survey's tables and pages.
#pragma once
#include <string>

#include "survey/survey.hpp"

namespace survey {

std::string as_text(const results&);      // for a terminal
std::string as_markdown(const results&);  // the page docs/explanation/measured.md
std::string as_costs(const results&);     // the table of costs as a page; "": it is empty
// One page with charts, which needs no network: `charts` is the source of Chart.js.
std::string as_html(const results&, const std::string& charts);

// Writes survey.md, costs.md and survey.html beside survey.json, and prints the table. Without
// Chart.js there is no survey.html, and a line says so.
void write_reports(const results&, const std::string& folder);

}  // namespace survey
