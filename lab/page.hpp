// docs/explanation/failures.md.
#pragma once
#include <string>

namespace holdfast::lab {

// The page in Markdown; its pictures are the SVGs of the stories.
std::string failures_page();

}  // namespace holdfast::lab
