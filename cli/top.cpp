// holdfast top
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <thread>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/count_text.hpp"
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

top_arguments parse_top_arguments(int argc, char** argv) {
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

// "3 locks held by 5 holders, 7 waiting"; without the waiters where no lock's are known.
std::string summary_of(std::span<const holder> all) {
  if (all.empty()) return "no lock is held";
  std::set<std::string_view> names;
  std::int64_t waiting = 0;
  bool knows_waiters = false;
  for (const holder& h : all) {
    if (!names.insert(h.name).second || h.waiting < 0) continue;
    knows_waiters = true;
    waiting += h.waiting;
  }
  std::string out = counted(names.size(), "lock", "locks") + " held by " +
                    counted(all.size(), "holder", "holders");
  if (knows_waiters) out += ", " + std::to_string(waiting) + " waiting";
  return out;
}

struct frame {
  std::vector<std::string> lines;
  std::size_t headings = 0;  // the lines before the first holder
};

// The locks with the most waiters come first.
frame frame_of(const client& from, const place& at, const std::string& prefix) {
  std::vector<holder> all = from.list(prefix);
  std::ranges::stable_sort(all, std::ranges::greater{}, &holder::waiting);
  std::vector<std::string> lines{time_of_day() + "  " + printable(at.shown()) + "  " +
                                 summary_of(all)};
  if (all.empty()) return {lines, lines.size()};
  lines.emplace_back();
  for (std::string& line : table_of(all, from.features().unsafe)) lines.push_back(std::move(line));
  const std::size_t headings = lines.size() - all.size();
  return {std::move(lines), headings};
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
frame frame_or_error(const client& from, const place& at, const std::string& prefix) {
  try {
    return frame_of(from, at, prefix);
  } catch (const lock_error& e) {
    if (e.code() == outcome::usage) throw;
    std::vector<std::string> lines{time_of_day() + "  " + printable(at.shown()), ""};
    append_wrapped(lines, printable(text_of(e)));
    return {lines, lines.size()};
  }
}

// The lines that fit. If at least one holder is shown, the last line counts the others.
std::vector<std::string> cut_to(std::size_t rows, frame f) {
  if (f.lines.size() <= rows) return std::move(f.lines);
  const bool shows_a_holder = rows > f.headings + 1;
  const std::size_t kept = shows_a_holder ? rows - 1 : rows;
  const std::size_t hidden = f.lines.size() - kept;
  f.lines.resize(kept);
  if (shows_a_holder) f.lines.push_back("and " + counted(hidden, "more holder", "more holders"));
  return std::move(f.lines);
}

// Draws over the frame before, so that the terminal does not flicker.
std::string drawn(frame f) {
  constexpr std::string_view home = "\033[H", end_of_line = "\033[K\n", clear_below = "\033[J";
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2 || size.ws_row < 3)
    size = {24, 80, 0, 0};
  std::string out(home);
  // The last row is the cursor's.
  for (const std::string& line : cut_to(size.ws_row - 1u, std::move(f)))
    out.append(fitting(line, size.ws_col - 1)).append(end_of_line);
  return out.append(clear_below);
}

std::string printed(const frame& f) {
  std::string out;
  for (const std::string& line : f.lines) out += line + '\n';
  return out;
}

int show(const client& from, const place& at, const top_arguments& arguments, bool is_live) {
  const std::uint32_t frames = arguments.count.value_or(is_live ? 0 : 1);  // 0: until a signal
  frame next = frame_of(from, at, arguments.prefix);
  for (std::uint64_t shown = 1;; ++shown) {
    const std::string text = is_live ? drawn(std::move(next)) : printed(next);
    if (const int failed = print(text)) return failed;
    if (shown == frames) return 0;
    std::this_thread::sleep_for(arguments.interval.value_or(std::chrono::seconds{1}));
    next = frame_or_error(from, at, arguments.prefix);
    if (!is_live) next.lines.insert(next.lines.begin(), "");
  }
}

}  // namespace

int top(int argc, char** argv) {
  const auto arguments = parse_top_arguments(argc, argv);
  if (arguments.help) return print(help_text("top"));
  const place at = place_of(arguments.url);
  refuse_memory(at);
  const client from = client::open(at.text);
  return show(from, at, arguments, ::isatty(STDOUT_FILENO) != 0 && !arguments.once);
}

}  // namespace holdfast::cli
