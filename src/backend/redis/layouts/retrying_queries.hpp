// inspect(), holders() and break_lock() of a layout of the retrying recipe. inspect() reads every
// key that begins so: the layout keeps no list of its locks.
#pragma once
#include <string>
#include <string_view>

#include "backend/redis/layouts/admin_query.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis {

// Without the reactor's mutex. Answered at once when there is no connection. The codec outlives
// them.
void start_holders_query(const lock_server&, const retrying_codec&, std::string_view key_prefix,
                         std::string_view name, query_scope, seam::holders_handler&);
void start_breaking(const lock_server&, const retrying_codec&, std::string_view key,
                    std::string_view seen, seam::decision_handler&);

}  // namespace holdfast::redis
