// diagnose() of a topology of several servers: each is examined by itself, and the findings are
// told together.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "backend/redis/diagnosis/diagnosis.hpp"

namespace holdfast::redis {

// Like start_diagnosis() of one server. A finding that all servers share is reported once; every
// other finding names its server. A server that cannot be examined is a bad finding of its own. The
// endpoint has the user and the times of all.
void start_diagnosis(std::span<transport* const>, const std::vector<std::string>& names,
                     const endpoint&, std::span<const layout_needs>, bool are_in_cluster,
                     seam::findings_handler&);

}  // namespace holdfast::redis
