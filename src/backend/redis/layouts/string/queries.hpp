// inspect(), holders() and break_lock(): an operator's questions. inspect() finds a lock by its
// side keys (it was renewed or waited for), and the one whose name is the prefix itself in any
// case: nothing looks at keys that may be somebody else's.
#pragma once
#include <string_view>

#include "seam/backend.hpp"

namespace holdfast::redis {

class link;

// Without the link's lock. Answered at once when there is no connection.
void start_inspection(link&, std::string_view prefix, core::holders_handler&);
void start_look_at_one(link&, std::string_view lock, core::holders_handler&);
void start_guarded_write(link&, const core::guarded_write&, core::decision_handler&);
void start_breaking(link&, std::string_view lock, std::string_view owner, core::decision_handler&);

}  // namespace holdfast::redis
