// The named stores of this process.
#pragma once
#include <memory>
#include <string_view>

#include "backend/memory/transport.hpp"

namespace holdfast::memory {

// Made at first use and destroyed with its last reference. A fork's child has its own. Safe from
// any thread.
std::shared_ptr<server> shared_server(std::string_view name);

}  // namespace holdfast::memory
