// An explanation for people, and for programs.
#pragma once
#include <cstddef>
#include <string>

#include "cli/explanation.hpp"

namespace holdfast::cli {

// The last `lines` lines of the timeline, 0: all; then what they show, in sentences.
std::string page_of_explanation(const explanation&, std::size_t lines);

std::string json_of_explanation(const explanation&);

}  // namespace holdfast::cli
