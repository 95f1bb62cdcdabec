// What a zookeeper: or zookeepers: URL says.
#pragma once
#include <string>

#include "backend/zookeeper/transport/transport.hpp"
#include "seam/registry.hpp"

namespace holdfast::zookeeper {

struct settings : endpoint {
  std::string chroot;  // the part of the tree that is used, without a '/' at its end; "": all
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const core::opening&);

}  // namespace holdfast::zookeeper
