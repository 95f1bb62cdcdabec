// holdfast_lab: failures of distributed locks on real servers, as stories.
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "lab/naive_redis.hpp"
#include "lab/page.hpp"
#include "lab/story.hpp"
#include "lab/timeline_svg.hpp"
#include "lab/timeline_text.hpp"

namespace {

using namespace holdfast::lab;

constexpr int exit_failed = 1, exit_usage = 64, exit_unwritable = 73, exit_skipped = 77;

constexpr const char* usage_text =
    "usage: holdfast_lab list\n"
    "       holdfast_lab run STORY... | run --all\n"
    "       holdfast_lab svg [STORY...] [--into FOLDER]\n"
    "       holdfast_lab page\n"
    "\n"
    "list  the stories\n"
    "run   runs stories on servers that it starts, and draws what happened\n"
    "svg   runs stories and writes FOLDER/STORY.svg for each; default: all, and the folder of\n"
    "      docs/explanation/failures.md, which it writes too\n"
    "page  prints docs/explanation/failures.md\n"
    "\n"
    "exit codes: 0 each lock broke or stood as expected, 1 another did, 64 usage,\n"
    "            73 a file cannot be written, 77 no story could run: its server is missing\n";

colour colour_of_output() {
  return ::isatty(STDOUT_FILENO) != 0 && !std::getenv("NO_COLOR") ? colour::on : colour::off;
}

struct told {
  std::deque<play> plays;  // one for each variant
  bool is_skipped = false, has_failed = false;
};

// Runs a story and prints it.
told tell(const story& s) {
  told result;
  const colour c = colour_of_output();
  std::fputs(heading_of(s, c).c_str(), stdout);
  if (const std::string defect = defect_of(s); !defect.empty()) {
    std::printf("%s\n", defect.c_str());
    result.has_failed = true;
  }
  if (const std::string lacking = lacking_for(s); !lacking.empty()) {
    std::printf("%s\n\n", lacking.c_str());
    result.is_skipped = true;
    return result;
  }
  std::size_t number = 0;
  for (const variant& v : s.variants) {
    std::fputs(heading_of(v, ++number, c).c_str(), stdout);
    play& p = result.plays.emplace_back();
    const std::string problem = run(v, p);
    std::fputs((to_text(p.line, c) + ending_of(v, p, problem, c)).c_str(), stdout);
    std::fflush(stdout);
    result.has_failed |= !problem.empty();
  }
  for (const std::string& line : wrapped(s.answer, text_width - 2))
    std::printf("  %s\n", line.c_str());
  std::fputs("\n", stdout);
  return result;
}

struct totals {
  int stood = 0, skipped = 0, failed = 0;
  void add(const told& t) { ++(t.is_skipped ? skipped : t.has_failed ? failed : stood); }
  int exit_code() const { return failed != 0 ? exit_failed : stood == 0 ? exit_skipped : 0; }
};

int run_all(const std::vector<const story*>& stories) {
  const auto begun = std::chrono::steady_clock::now();
  totals sum;
  for (const story* s : stories) sum.add(tell(*s));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf("%d stories as expected, %d failed, %d skipped, in %.1f s\n", sum.stood, sum.failed,
              sum.skipped, took.count());
  return sum.exit_code();
}

bool write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) std::fprintf(stderr, "holdfast_lab: cannot write %s\n", path.c_str());
  return bool(file);
}

int write_svgs(const std::vector<const story*>& stories, const std::filesystem::path& folder) {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  totals sum;
  for (const story* s : stories) {
    const told t = tell(*s);
    sum.add(t);
    if (t.is_skipped || t.has_failed) continue;
    std::vector<const play*> plays;
    for (const play& p : t.plays) plays.push_back(&p);
    if (!write_file(folder / (std::string(s->name) + ".svg"), to_svg(*s, plays)))
      return exit_unwritable;
  }
  std::printf("%d pictures drawn, %d stories failed, %d skipped\n", sum.stood, sum.failed,
              sum.skipped);
  return sum.exit_code();
}

int usage(const std::string& problem) {
  std::fprintf(stderr, "holdfast_lab: %s\n%s", problem.c_str(), usage_text);
  return exit_usage;
}

int list() {
  for (const story& s : all_stories())
    std::printf("%-26s %-10s %s\n", s.name, to_text(s.needs), s.title);
  return 0;
}

long long unix_ms_now() {
  using namespace std::chrono;
  return floor<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// One attempt at the lock, which a story starts as a client with another clock. 0: granted.
int attempt(const std::string& url, const std::string& lock) {
  const long long now = unix_ms_now();
  const bool is_granted{holdfast::client::open(url).mutex(lock).try_acquire()};
  std::printf("%lld is its time. try_acquire(): %s\n", now, is_granted ? "granted" : "busy");
  return is_granted ? 0 : 1;
}

// The same at the naive lock whose value is the time at which it ends.
int attempt_at_stamp(const std::string& port) {
  constexpr long long ten_minutes = 600'000;
  holdfast::testkit::redis_link own("127.0.0.1", std::stoi(port));
  const long long now = unix_ms_now();
  const std::string seen = own.command({"GET", lock_name}).text;
  if (now <= std::stoll(seen)) {
    std::printf("%lld is its time. GET lock: %s, busy\n", now, seen.c_str());
    return 1;
  }
  const std::string mine = std::to_string(now + ten_minutes);
  const bool is_granted = own.command({"GETSET", lock_name, mine}).text == seen;
  std::printf("%lld is its time. GET lock: %s, passed. GETSET lock %s: %s\n", now, seen.c_str(),
              mine.c_str(), is_granted ? "granted" : "busy");
  return is_granted ? 0 : 1;
}

int act(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "list" && words.size() == 1) return list();
  if (verb == "page" && words.size() == 1) return std::fputs(failures_page().c_str(), stdout) < 0;
  if (verb == "attempt" && words.size() == 3) return attempt(words[1], words[2]);
  if (verb == "attempt-at-stamp" && words.size() == 2) return attempt_at_stamp(words[1]);
  if (verb != "run" && verb != "svg") return usage("give list, run, svg or page");
  std::vector<const story*> stories;
  std::filesystem::path folder;
  bool is_all = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--all" && verb == "run") {
      is_all = true;
    } else if (words[i] == "--into" && verb == "svg" && i + 1 < words.size()) {
      folder = words[++i];
    } else if (const story* s = story_named(words[i])) {
      stories.push_back(s);
    } else {
      return usage("there is no story \"" + words[i] + "\"; list shows all");
    }
  }
  if (is_all || (verb == "svg" && stories.empty()))
    for (const story& s : all_stories()) stories.push_back(&s);
  if (stories.empty()) return usage("name a story, or --all");
  if (verb == "run") return run_all(stories);
  if (!folder.empty()) return write_svgs(stories, folder);
  const std::filesystem::path docs = HOLDFAST_LAB_DOCS;
  if (!write_file(docs / "failures.md", failures_page())) return exit_unwritable;
  return write_svgs(stories, docs / "failures");
}

}  // namespace

int main(int argc, char** argv) {
  holdfast::set_log_hook(nullptr);  // the stories show what the log would report
  return act({argv + 1, argv + argc});
}
