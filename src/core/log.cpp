#include "core/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <mutex>

namespace holdfast {
namespace {

void to_standard_error(log_level level, std::string_view line, void*) {
  if (level < log_level::warning) return;
  char prefix[] = "holdfast: ";
  char newline[] = "\n";
  const iovec parts[] = {{prefix, sizeof prefix - 1},
                         {const_cast<char*>(line.data()), line.size()},
                         {newline, 1}};
  if (::writev(STDERR_FILENO, parts, 3) < 0) return;  // nowhere left to say so
}

struct sink {
  log_hook hook = to_standard_error;
  void* context = nullptr;
};

std::mutex sink_mutex;
sink current_sink;

}  // namespace

inline namespace v0 {

void set_log_hook(log_hook hook, void* context) noexcept {
  const std::lock_guard guard(sink_mutex);
  current_sink = {hook, context};
}

}  // namespace v0

namespace core {

void log(log_level level, std::string_view line) noexcept {
  sink to;
  {
    const std::lock_guard guard(sink_mutex);
    to = current_sink;
  }
  if (to.hook) to.hook(level, line, to.context);
}

}  // namespace core
}  // namespace holdfast
