// The internal side of <holdfast/log.hpp>.
#pragma once
#include <holdfast/log.hpp>

#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::core {

void log(log_level, std::string_view line) noexcept;

std::string text_of(duration);  // "850 ms", "4.2 s", "75 s"

}  // namespace holdfast::core
