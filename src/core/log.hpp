// The library's own side of log.hpp.
#pragma once
#include <holdfast/log.hpp>

#include <string_view>

namespace holdfast::core {

void log(log_level, std::string_view line) noexcept;

}  // namespace holdfast::core
