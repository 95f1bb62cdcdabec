// What one server of the URL tells of itself.
#pragma once
#include "backend/zookeeper/examination/grading.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

// Blocks, at most for a few op-timeouts.
server_facts examine_server(core::environment&, const settings&, const core::address&);

}  // namespace holdfast::zookeeper
