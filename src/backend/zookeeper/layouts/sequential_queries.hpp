// The query for the holders of locks. It answers later, or from inside the call.
#pragma once
#include "backend/zookeeper/layouts/holders_query.hpp"
#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper {

void start_holders_query(const query_context&, const sequential_codec&, const std::string& chroot,
                         std::string_view name, query_scope, seam::holders_handler&);

}  // namespace holdfast::zookeeper
