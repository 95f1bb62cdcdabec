// The findings of several servers, or of several deployments, told together.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "seam/result_handler.hpp"

namespace holdfast::redis {

// Diagnoses each of them by its number. A finding that all have in common is reported once; every
// other finding names whose it is. What cannot be examined is a bad finding of its own. Without any
// server, a bad finding is reported at once. `about` has findings about one of them, which are
// reported before its own.
void start_joint_diagnosis(
    std::vector<std::string> names,
    const std::function<void(std::size_t, seam::findings_handler&)>& diagnose,
    seam::findings_handler& to, std::function<std::vector<finding>(std::size_t)> about = {});

}  // namespace holdfast::redis
