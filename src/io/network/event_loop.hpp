// The event loop over Boost.Asio.
#pragma once
#include <memory>

#include "base/network.hpp"

namespace holdfast::io {

// Throws std::system_error when its thread or its descriptors cannot be made.
std::unique_ptr<core::event_loop> make_event_loop(core::loop_user&, core::driven_by,
                                                  const char* thread_name);

}  // namespace holdfast::io
