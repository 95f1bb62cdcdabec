// Who holds a lock, in words.
#pragma once
#include <holdfast/client.hpp>

#include <string>

namespace holdfast::cli {

// "nightly is held by pid 4711 on host web1 for 12 s (note: backup)". Says less when the backend
// knows less or does not answer; never throws but for want of memory.
std::string holder_of(const client&, const std::string& name);

}  // namespace holdfast::cli
