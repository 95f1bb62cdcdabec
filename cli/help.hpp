#pragma once
#include <string_view>

namespace holdfast::cli {

// The text of `holdfast help [COMMAND]`; empty when there is no such command.
std::string_view help_text(std::string_view command);

// Its first line without "Usage: ", as in "holdfast holders [OPTION...] NAME".
std::string_view usage_of(std::string_view command);

}  // namespace holdfast::cli
