#include "cli/waiting_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <condition_variable>
#include <thread>
#include <vector>

#include "cli/holders.hpp"
#include "cli/message.hpp"
#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::string_view to_start_and_clear = "\r\033[K";

std::mutex screen;     // who writes to the terminal
bool painted = false;  // under `screen`: the line is on it

void put(std::string_view bytes) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, bytes.data(), bytes.size());
}

void erase() {
  if (std::exchange(painted, false)) put(to_start_and_clear);
}

int terminal_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return 79;
  return size.ws_col - 1;  // the last column would wrap on some terminals
}

}  // namespace

struct waiting_line::shared {
  std::condition_variable changed;
  bool ended = false;  // under `screen`
};

waiting_line::waiting_line(const client& c, const place& at, std::span<const std::string> names) {
  say("waiting at " + at.shown());
  if (::isatty(STDERR_FILENO) == 0) return;
  shared_ = std::make_shared<shared>();
  // Detached: an inspect() under way must not keep a granted run from starting its job.
  std::thread([state = shared_, c, all = std::vector(names.begin(), names.end())] {
    std::unique_lock lock(screen);
    while (!state->ended) {
      lock.unlock();
      const std::string text = printable("holdfast: waiting: " + who_holds(c, all));
      lock.lock();
      if (state->ended) return;
      put(std::string(to_start_and_clear).append(fitting(text, terminal_width())));
      painted = true;
      state->changed.wait_for(lock, std::chrono::seconds{1}, [&] { return state->ended; });
    }
  }).detach();
}

waiting_line::~waiting_line() {
  if (!shared_) return;
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
