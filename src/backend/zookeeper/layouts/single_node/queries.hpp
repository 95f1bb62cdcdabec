// The query for the holders of locks. It answers later, or from inside the call.
#pragma once
#include "backend/zookeeper/layouts/holders_query.hpp"

namespace holdfast::zookeeper::single_node {

void start_holders_query(const query_context&, const std::string& chroot, std::string_view name,
                         query_scope, seam::holders_handler&);

}  // namespace holdfast::zookeeper::single_node
