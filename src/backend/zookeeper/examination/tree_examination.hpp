// What stands under the chroot, and who may change it.
#pragma once
#include "backend/zookeeper/examination/grading.hpp"
#include "backend/zookeeper/settings.hpp"

namespace holdfast::zookeeper {

// Blocks until a session has answered, or none can be had within the op-timeout.
tree_facts examine_tree(core::environment&, const settings&);

}  // namespace holdfast::zookeeper
