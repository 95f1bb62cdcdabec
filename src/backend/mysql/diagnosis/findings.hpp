// The findings, from what a server reports of itself. Pure.
#pragma once
#include <holdfast/finding.hpp>

#include <map>
#include <string>
#include <vector>

namespace holdfast::mysql {

using variables = std::map<std::string, std::string, std::less<>>;  // of SHOW VARIABLES

std::vector<finding> findings_of(const variables&);

}  // namespace holdfast::mysql
