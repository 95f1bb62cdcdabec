#include <holdfast/holdfast.hpp>

#include <iostream>
#include <string_view>

void write_to_own_log(holdfast::log_level level, std::string_view line, void*) noexcept {
  if (level >= holdfast::log_level::warning) std::cerr << "locks: " << line << '\n';
}

void route_log_lines() { holdfast::set_log_hook(&write_to_own_log); }
