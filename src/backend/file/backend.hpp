// Locks in a directory of this machine, by flock(2): no server.
#pragma once
#include <memory>

#include "seam/backend.hpp"
#include "seam/registry.hpp"

namespace holdfast::file {

// URL: "file:" (the directory of this machine and user) or "file:///directory". Option: network=1
// takes a directory on a network file system. Throws lock_error: bad_url, bad_option, refused,
// unavailable.
std::unique_ptr<core::backend> open(const core::opening&);

}  // namespace holdfast::file
