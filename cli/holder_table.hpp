// The table of holders that `list` and `top` print.
#pragma once
#include <holdfast/client.hpp>

#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

// Its lines, without line ends: the titles, and one line for each holder.
// is_unsafe: the layout of the store is a demonstration
std::vector<std::string> table_of(std::span<const holder>, bool is_unsafe);

}  // namespace holdfast::cli
