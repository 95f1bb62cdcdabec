// What layout `string` must be allowed to send.
#pragma once
#include "backend/redis/examination/required_command.hpp"

namespace holdfast::redis {

layout_needs needs_of_string() noexcept;

}  // namespace holdfast::redis
