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

bool is_quiet = false;

void on_log(log_level level, std::string_view line, void*) {
  const bool is_of_lease =
      line.starts_with("lease \"");  // the supervisor says it, and what it does
  const bool is_notice = line.starts_with("the lock directory ");
  if (level >= log_level::warning && !is_of_lease && !(is_quiet && is_notice)) say(line);
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

// A reader of the command knows its words, not the functions of the library.
std::string text_of(const lock_error& e) {
  const std::string_view operation = e.operation();
  const auto has = [&](std::string_view word) { return operation.find(word) != operation.npos; };
  std::string_view word = operation;
  if (has("acquire") || has("mutex") || has("semaphore")) word = "lock";
  if (operation == "break_lock") word = "break";
  return std::string(word).append(std::string_view(e.what()).substr(operation.size()));
}

void leave_out_notices() noexcept { is_quiet = true; }

void take_over_log() noexcept { set_log_hook(&on_log); }

}  // namespace holdfast::cli
