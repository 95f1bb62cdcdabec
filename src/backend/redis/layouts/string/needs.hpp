// The rights that layout `string` needs.
#pragma once
#include "backend/redis/layouts/required_command.hpp"

namespace holdfast::redis {

layout_needs needs_of_string() noexcept;

}  // namespace holdfast::redis
