// A timeline in the terminal, drawn to scale.
#pragma once
#include <string>

#include "lab/story.hpp"

namespace holdfast::lab {

inline constexpr std::size_t text_width = 100;  // columns

enum class colour : bool { off, on };

std::string to_text(const timeline&, colour);
// The words before the first timeline of a story, and those around each.
std::string heading_of(const story&, colour);
std::string heading_of(const variant&, std::size_t number, colour);
std::string ending_of(const variant&, const play&, const std::string& problem, colour);

}  // namespace holdfast::lab
