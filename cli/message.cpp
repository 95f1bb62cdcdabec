#include "cli/message.hpp"

#include <unistd.h>
#include <holdfast/log.hpp>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "cli/exit_code.hpp"
#include "cli/utf8.hpp"
#include "cli/waiting_line.hpp"

namespace holdfast::cli {
namespace {

void on_log(log_level level, std::string_view line, void*) {
  const bool is_of_lease =
      line.starts_with("lease \"");  // the supervisor says it, and what it does
  if (level >= log_level::warning && !is_of_lease) say(line);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto [code, size] = first_code_point(text);
    if (code == not_utf8 || steers_a_terminal(code))
      shown += '?';
    else
      shown += text.substr(0, size);
    text.remove_prefix(size);
  }
  return shown;
}

void say(std::string_view text) noexcept {
  try {
    const std::string line = "holdfast: " + printable(text) + '\n';
    const auto hidden = hide_waiting_line();
    print_error(line);
  } catch (...) {  // no memory for a message: nothing can be said
  }
}

void print_error(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

int print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return 0;
  say("standard output cannot be written: " + std::generic_category().message(errno));
  return exit_broken;
}

void take_over_log() noexcept { set_log_hook(&on_log); }

}  // namespace holdfast::cli
