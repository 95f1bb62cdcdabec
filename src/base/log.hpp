// The internal side of <holdfast/log.hpp>.
#pragma once
#include <holdfast/log.hpp>

#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace holdfast::base {

// Where the lines of a client go: to its own hook, or without one to the hook of the process.
struct log_sink {
  log_hook hook = nullptr;
  void* context = nullptr;
};

void log(const log_sink&, log_level, std::string_view line) noexcept;
void log(log_level, std::string_view line) noexcept;  // to the hook of the process

std::string text_of(duration);  // "850 ms", "4.2 s", "75 s"

}  // namespace holdfast::base
