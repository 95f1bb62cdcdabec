#include "base/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <new>

namespace holdfast {
namespace {

void to_standard_error(log_level level, std::string_view line, void*) {
  if (level < log_level::warning) return;
  char prefix[] = "holdfast: ";
  char newline[] = "\n";
  const iovec parts[] = {{prefix, sizeof prefix - 1},
                         {const_cast<char*>(line.data()), line.size()},
                         {newline, 1}};
  if (::writev(STDERR_FILENO, parts, 3) < 0) return;  // there is nowhere to report this failure
}

struct sink {
  log_hook hook = to_standard_error;
  void* context = nullptr;
  const sink* before = nullptr;  // never freed: a thread may be about to call it
};

// No mutex: a fork's child could inherit it locked.
constexpr sink first_sink;
std::atomic<const sink*> current_sink{&first_sink};

}  // namespace

inline namespace v0 {

void set_log_hook(log_hook hook, void* context) noexcept {
  auto* const made = new (std::nothrow) sink{hook, context, current_sink.load()};
  if (!made) return;
  while (!current_sink.compare_exchange_weak(made->before, made)) {}
}

}  // namespace v0

namespace base {

void log(log_level level, std::string_view line) noexcept {
  const sink& to = *current_sink.load();
  if (to.hook) to.hook(level, line, to.context);
}

void log(const log_sink& to, log_level level, std::string_view line) noexcept {
  to.hook ? to.hook(level, line, to.context) : log(level, line);
}

std::string text_of(duration d) {
  const auto ms = std::chrono::round<std::chrono::milliseconds>(d).count();
  if (ms < 1000) return std::to_string(ms) + " ms";
  const auto tenths = (ms + 50) / 100;
  std::string out = std::to_string(tenths / 10);
  if (tenths < 600 && tenths % 10 != 0) out += '.' + std::to_string(tenths % 10);
  return out + " s";
}

}  // namespace base
}  // namespace holdfast
