// Who holds which lock. Each answers later, or from inside the call.
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/node_query.hpp"
#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper {

void start_inspection(const query_context&, const sequential_codec&, const std::string& chroot,
                      std::string_view prefix, core::holders_handler&);
void start_holders_query(const query_context&, const sequential_codec&, const std::string& chroot,
                         std::string_view name, core::holders_handler&);

}  // namespace holdfast::zookeeper
