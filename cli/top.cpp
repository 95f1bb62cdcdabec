// holdfast top
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/duration_text.hpp"
#include "cli/exit_code.hpp"
#include "cli/help.hpp"
#include "cli/holder_table.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"
#include "cli/secret_argument.hpp"
#include "cli/utf8.hpp"

namespace holdfast::cli {
namespace {

constexpr std::chrono::milliseconds least_interval{100};

struct top_arguments {
  std::string prefix;
  std::optional<std::string> url;
  std::optional<std::uint32_t> count;
  std::optional<std::chrono::nanoseconds> interval;
  bool once = false;
  bool help = false;
};

top_arguments parse_arguments(int argc, char** argv) {
  top_arguments out;
  const separated_words words = take_words(argc, argv);
  command_line line;
  line.text("--url", out.url);
  line.number("-n,--count", out.count, 1, UINT32_MAX);
  line.duration("--interval", out.interval);
  line.flag("--once", out.once);
  line.parse(words.before);
  out.help = line.asks_for_help();
  if (out.help) return out;
  auto plain = line.plain_words();
  for (char** word = words.after; word && *word; ++word) plain.emplace_back(*word);
  if (plain.size() > 1)
    throw usage_error("there is more than one PREFIX: " + std::string(usage_of("top")));
  if (!plain.empty()) out.prefix = plain.front();
  refuse_url(out.prefix);
  if (out.once && out.count.value_or(1) != 1)
    throw usage_error("--once prints one frame and -n another number of them; keep one");
  if (out.interval.value_or(least_interval) < least_interval)
    throw usage_error("--interval is shorter than 100ms; give at least 100ms");
  return out;
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[16];
  std::strftime(text, sizeof text, "%H:%M:%S", &local);
  return text;
}

std::string counted(std::size_t n, std::string_view one, std::string_view several) {
  return std::to_string(n).append(" ").append(n == 1 ? one : several);
}

// "3 locks held by 5 holders, 7 waiting"; without the waiters where no lock's are known.
std::string summary_of(std::span<const holder> all) {
  if (all.empty()) return "no lock is held";
  std::set<std::string_view> names;
  std::int64_t waiting = 0;
  bool knows_waiters = false;
  for (const holder& who : all) {
    if (!names.insert(who.name).second || who.waiting < 0) continue;
    knows_waiters = true;
    waiting += who.waiting;
  }
  std::string out = counted(names.size(), "lock", "locks") + " held by " +
                    counted(all.size(), "holder", "holders");
  if (knows_waiters) out += ", " + std::to_string(waiting) + " waiting";
  return out;
}

// The locks with the most waiters come first.
std::vector<std::string> frame_of(const client& from, const place& at, const std::string& prefix) {
  std::vector<holder> all = from.list(prefix);
  std::ranges::stable_sort(all, std::ranges::greater{}, &holder::waiting);
  std::vector<std::string> out{time_of_day() + "  " + printable(at.shown()) + "  " +
                               summary_of(all)};
  if (all.empty()) return out;
  out.emplace_back();
  for (std::string& line : table_of(all, from.features().unsafe)) out.push_back(std::move(line));
  return out;
}

// The text in lines that fit into most terminals.
void append_wrapped(std::vector<std::string>& to, std::string_view text) {
  constexpr std::size_t width = 78;
  while (text.size() > width) {
    auto end = text.rfind(' ', width);
    if (end == text.npos) end = text.find(' ');
    if (end == text.npos) break;
    to.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  to.emplace_back(text);
}

// A store that cannot be reached for a while is a frame, because it may return.
std::vector<std::string> frame_or_error(const client& from, const place& at,
                                        const std::string& prefix) {
  try {
    return frame_of(from, at, prefix);
  } catch (const lock_error& e) {
    if (e.code() == outcome::usage) throw;
    std::vector<std::string> out{time_of_day() + "  " + printable(at.shown()), ""};
    append_wrapped(out, printable(text_of(e)));
    return out;
  }
}

// Draws over the frame before, so that the terminal does not flicker.
std::string drawn(std::vector<std::string> lines) {
  constexpr std::string_view home = "\033[H", end_of_line = "\033[K\n", clear_below = "\033[J";
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 3)
    size = {24, 80, 0, 0};
  const std::size_t rows = size.ws_row - 1u;  // the last row is the cursor's
  if (lines.size() > rows) {
    const std::size_t hidden = lines.size() - rows + 1;
    lines.resize(rows - 1);
    lines.push_back("and " + counted(hidden, "more holder", "more holders"));
  }
  std::string out(home);
  for (const std::string& line : lines)
    out.append(fitting(line, size.ws_col - 1)).append(end_of_line);
  return out.append(clear_below);
}

std::string printed(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  return out;
}

std::chrono::nanoseconds interval_of(const top_arguments& arguments) {
  return arguments.interval.value_or(std::chrono::seconds{1});
}

int show_live(const client& from, const place& at, const top_arguments& arguments) {
  auto lines = frame_of(from, at, arguments.prefix);
  for (std::uint64_t shown = 1;; ++shown) {
    if (const int failed = print(drawn(std::move(lines)))) return failed;
    if (shown == arguments.count) return 0;
    std::this_thread::sleep_for(interval_of(arguments));
    lines = frame_or_error(from, at, arguments.prefix);
  }
}

int show_pages(const client& from, const place& at, const top_arguments& arguments) {
  auto lines = frame_of(from, at, arguments.prefix);
  for (std::uint32_t shown = 1;; ++shown) {
    if (const int failed = print(printed(lines))) return failed;
    if (shown == arguments.count.value_or(1)) return 0;
    std::this_thread::sleep_for(interval_of(arguments));
    lines = frame_or_error(from, at, arguments.prefix);
    lines.insert(lines.begin(), "");
  }
}

}  // namespace

int top(int argc, char** argv) {
  const auto arguments = parse_arguments(argc, argv);
  if (arguments.help) return print(help_text("top"));
  const place at = place_of(arguments.url);
  refuse_memory(at);
  const client from = client::open(at.text);
  const bool is_live = ::isatty(STDOUT_FILENO) != 0 && !arguments.once;
  return is_live ? show_live(from, at, arguments) : show_pages(from, at, arguments);
}

}  // namespace holdfast::cli
