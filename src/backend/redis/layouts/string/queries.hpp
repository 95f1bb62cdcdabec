// inspect(), holders() and break_lock(): an operator's questions. inspect() finds a lock by its
// side keys (it was renewed or waited for), and the one whose name is the prefix itself in any
// case: nothing looks at keys that may be somebody else's.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "backend/redis/extensions.hpp"
#include "backend/redis/layouts/admin_query.hpp"

namespace holdfast::redis {

// Without the reactor's mutex. Answered at once when there is no connection. `key_prefix`: of the
// keys of all locks.
void start_holders_query(const lock_server&, std::string key_prefix, std::string_view name,
                         query_scope, seam::holders_handler&);
void start_guarded_write(const lock_server&, const guarded_write&, seam::decision_handler&);
void start_breaking(const lock_server&, std::string_view lock, std::string_view counter,
                    std::string_view owner, seam::decision_handler&);
// Raises the counter of this lock to at least `floor`.
void start_raising(const lock_server&, std::string_view lock, std::string_view counter,
                   std::int64_t floor, seam::decision_handler&);

}  // namespace holdfast::redis
