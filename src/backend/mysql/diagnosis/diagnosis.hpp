// What an operator should know of a server: whether it can keep the promises of its locks.
#pragma once
#include <holdfast/finding.hpp>

#include <map>
#include <string>
#include <vector>

#include "backend/mysql/settings.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql {

using variables = std::map<std::string, std::string, std::less<>>;  // of SHOW VARIABLES

// The findings, from what a server reports of itself. Pure.
std::vector<finding> findings_of(const variables&);

void start_diagnosis(transport&, const settings&, seam::findings_handler&);

}  // namespace holdfast::mysql
