#include "c/handles.hpp"

#include <new>
#include <string>

namespace holdfast::c {

void log_lines::pass_on(log_level level, std::string_view line, void* lines) noexcept {
  const auto& to = *static_cast<const log_lines*>(lines);
  try {
    to.hook(static_cast<holdfast_log_level>(level), std::string(line).c_str(), to.context);
  } catch (const std::bad_alloc&) {
    to.hook(HOLDFAST_LOG_ERROR, "a log line was dropped: there is not enough memory", to.context);
  }
}

}  // namespace holdfast::c

void holdfast_set_log_hook(holdfast_log_hook hook, void* context) {
  using holdfast::c::log_lines;
  if (!hook) {
    holdfast::set_log_hook(nullptr);
    return;
  }
  // Never freed: a thread may be in the hook, or about to call it, long after it was replaced.
  auto* const lines = new (std::nothrow) log_lines{hook, context};
  if (lines) holdfast::set_log_hook(&log_lines::pass_on, lines);
}
