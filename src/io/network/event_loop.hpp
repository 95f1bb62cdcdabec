// The loop of events over Boost.Asio.
#pragma once
#include <memory>

#include "base/network.hpp"

namespace holdfast::io {

// Throws std::system_error when there is no room for its thread or its descriptors.
std::unique_ptr<core::event_loop> make_event_loop(core::loop_user&, core::driven_by,
                                                  const char* thread_name);

}  // namespace holdfast::io
