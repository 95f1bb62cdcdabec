// Who holds which lock. Each answers later, or from inside the call.
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper::single_node {

void start_inspection(const query_context&, const std::string& chroot, std::string_view prefix,
                      core::holders_handler&);
void start_holders_query(const query_context&, const std::string& chroot, std::string_view name,
                         core::holders_handler&);

}  // namespace holdfast::zookeeper::single_node
