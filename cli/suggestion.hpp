// Suggests a known word for a mistyped one.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// The one of `words` that differs least from `word`, in at most two letters; else "".
std::string_view nearest_of(const std::vector<std::string_view>& words, std::string_view word);

std::string did_you_mean(std::string_view meant);  // "; did you mean 'wait'?"; of "": ""

}  // namespace holdfast::cli
