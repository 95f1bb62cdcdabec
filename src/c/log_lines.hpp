// Passes log lines on to a hook of the C API.
#pragma once
#include <holdfast/holdfast.h>
#include <holdfast/log.hpp>

#include <string_view>

namespace holdfast::c {

struct log_lines {
  holdfast_log_hook hook;
  void* context;

  // A log_hook, whose context is a log_lines.
  static void pass_on(log_level, std::string_view line, void* lines) noexcept;
};

}  // namespace holdfast::c
