#include "survey/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace survey {

progress::progress(std::size_t steps) : steps_(steps), is_terminal_(isatty(STDERR_FILENO) != 0) {}

progress::~progress() {
  if (is_terminal_) std::fputs("\r\x1b[K", stderr);
}

void progress::step(const std::string& what) {
  if (is_terminal_) show(what);
  ++done_;
}

bool progress::is_time_to_save() {
  const auto now = std::chrono::steady_clock::now();
  if (now - saved_ < std::chrono::seconds(5)) return false;
  saved_ = now;
  return true;
}

void progress::note(const std::string& text) { show(text); }

void progress::show(const std::string& text) {
  constexpr std::size_t width = 24;
  const std::size_t full = std::min(width, done_ * width / std::max<std::size_t>(steps_, 1));
  const auto passed =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
  std::fprintf(stderr, "%s[%s%s] %zu of %zu, %lld s: %s%s", is_terminal_ ? "\r\x1b[K" : "",
               std::string(full, '#').c_str(), std::string(width - full, '.').c_str(), done_,
               steps_, static_cast<long long>(passed.count()), text.c_str(),
               is_terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace survey
