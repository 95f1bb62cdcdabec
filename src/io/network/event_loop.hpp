// The event loop over Boost.Asio.
#pragma once
#include <memory>

#include "base/network.hpp"

namespace holdfast::io {

// Throws std::system_error when its thread or its descriptors cannot be made.
std::unique_ptr<base::event_loop> make_event_loop(base::loop_user&, base::driven_by,
                                                  const char* thread_name);

}  // namespace holdfast::io
