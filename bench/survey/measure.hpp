// One run of one lock under one load.
#pragma once
#include <chrono>

#include "survey/cell.hpp"
#include "survey/subject.hpp"

namespace survey {

// Warms up for a fifth of the length, at most for 0.3 s, then counts. Ends early when the load's
// attempts are made. An attempt counts when it ends while it is measured. Throws
// holdfast::lock_error when the subject cannot be made.
measurement measure(const lock_row&, deployment&, const load&,
                    std::chrono::duration<double> length);

}  // namespace survey
