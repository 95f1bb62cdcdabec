// The stores of this process by name.
#pragma once
#include <memory>
#include <string_view>

#include "backend/memory/transport.hpp"

namespace holdfast::memory {

// Made when nobody has it, and gone with the last reference. A fork's child has its own. Safe from
// any thread.
std::shared_ptr<server> shared_server(std::string_view name);

}  // namespace holdfast::memory
