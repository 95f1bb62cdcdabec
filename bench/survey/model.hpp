// The queue of docs/explanation/scaling.md, compared with the measurements: a lock is one server,
// and each acquisition keeps it for the time of the holder and of the hand-off.
#pragma once
#include <string_view>
#include <vector>

#include "survey/survey.hpp"

namespace survey {

struct model_check {
  const cell* where = nullptr;
  double utilisation = 0;  // of the lock; workers that try again at once keep it busy: 1
  std::string_view what;   // "per second", "success", "acquire us"
  double model = 0, measured = 0;
};

// One or more for each cell of a lock that several workers want. The results must outlive them.
std::vector<model_check> check_model(const results&);

}  // namespace survey
