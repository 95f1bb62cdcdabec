// The timelines of a story as one SVG, readable on a light and on a dark page.
#pragma once
#include <string>
#include <vector>

#include "lab/story.hpp"

namespace holdfast::lab {

// The plays are those of the story's variants, in their order.
std::string to_svg(const story&, const std::vector<const play*>&);

}  // namespace holdfast::lab
