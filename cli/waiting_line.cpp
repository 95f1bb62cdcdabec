#include "cli/waiting_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>
#include <vector>

#include "cli/duration_text.hpp"
#include "cli/holders.hpp"
#include "cli/message.hpp"
#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds repaint_interval{1}, report_interval{60};
// At Redis a holder is known a moment after the first waiter has come.
constexpr std::chrono::milliseconds wait_for_holder{1500};
constexpr std::string_view to_start_and_clear = "\r\033[K";

std::mutex screen;     // who writes to the terminal
bool painted = false;  // under `screen`: the line is on it

void erase() {
  if (std::exchange(painted, false)) print_error(to_start_and_clear);
}

// Under `screen`, so that nothing is reported after the wait has ended.
void report(std::string_view text) {
  erase();
  print_error("holdfast: " + printable(text) + '\n');
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1;  // the last column would wrap on some terminals
}

void repaint(std::string_view text) {
  const std::string line = "holdfast: " + printable(text);
  print_error(std::string(to_start_and_clear).append(fitting(line, terminal_width())));
  painted = true;
}

}  // namespace

struct waiting_line::shared {
  std::condition_variable changed;
  bool ended = false;  // under `screen`
};

waiting_line::waiting_line(const client& c, const place& at, std::span<const std::string> names)
    : shared_(std::make_shared<shared>()) {
  // Detached: an list() under way must not keep a granted run from starting its job.
  std::thread([state = shared_, c, where = at.shown(),
               all = std::vector(names.begin(), names.end()),
               terminal = ::isatty(STDERR_FILENO) != 0] {
    const auto began = steady_clock::now();
    std::unique_lock lock(screen);
    for (bool first = true; !state->ended;) {
      lock.unlock();
      held_by found = who_holds(c, all);
      const auto waited = steady_clock::now() - began;
      const bool is_early = first && !found.is_known && waited < wait_for_holder;
      if (!found.is_shown && !is_early) found.text = why_not_granted(c, all);
      lock.lock();
      if (state->ended) return;
      if (is_early) {
        state->changed.wait_for(lock, std::chrono::milliseconds{100}, [&] { return state->ended; });
        continue;
      }
      if (first || !terminal) {
        std::string line = first ? "waiting at " : "still waiting at ";
        line += where;
        if (!first) line.append(" after ").append(spoken(waited));
        line.append(": ").append(found.text);
        report(line);
      }
      first = false;
      if (terminal) repaint("waiting: " + found.text);
      state->changed.wait_for(lock, terminal ? repaint_interval : report_interval,
                              [&] { return state->ended; });
    }
  }).detach();
}

waiting_line::~waiting_line() {
  const std::lock_guard lock(screen);
  shared_->ended = true;
  shared_->changed.notify_all();
  erase();
}

std::unique_lock<std::mutex> hide_waiting_line() {
  std::unique_lock lock(screen);
  erase();
  return lock;
}

}  // namespace holdfast::cli
