// Who holds which lock, and taking one away. Each answers later, or from inside the call.
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/sequential_codec.hpp"
#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

void start_inspection(transport&, const sequential_codec&, const std::string& chroot,
                      std::string_view prefix, core::holders_handler&);
void start_holders_query(transport&, const sequential_codec&, const std::string& chroot,
                         std::string_view name, core::holders_handler&);
// Removes the node of that name, if it holds the lock.
void start_breaking(transport&, const sequential_codec&, std::string lock_path,
                    std::string_view seen, core::decision_handler&);

}  // namespace holdfast::zookeeper
