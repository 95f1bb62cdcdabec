// The claims of the documents about distributed locks, compared with the measurements.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "survey/survey.hpp"

namespace survey {

struct checked_claim {
  std::string_view text;
  std::string_view theirs;  // the documents' own figure or order: "100,000 per second"
  std::string measured;     // "redis lua 14,462 per second; zookeeper sequence 452 per second"
  std::string how;          // "acquisitions per second, load free"
  std::string result;  // "confirmed", "contradicted", "no difference above 10 %", "not measured"
};

std::vector<checked_claim> check_claims(const results&);

}  // namespace survey
