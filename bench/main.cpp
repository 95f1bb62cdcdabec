// holdfast_bench: what holdfast costs, as ratios to limits taken in the same run.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "all_rows.hpp"
#include "bars.hpp"
#include "handoff.hpp"
#include "option_value.hpp"
#include "runner.hpp"
#include "survey/command.hpp"

namespace {

constexpr int exit_missed = 1, exit_usage = 64, exit_failed = 70, exit_skipped = 77;

constexpr const char* usage_text =
    "usage: holdfast_bench ratio [NAME] [--pairs N] [--seconds S] [--bars FILE]\n"
    "       holdfast_bench list [--bars FILE]\n"
    "       holdfast_bench survey [--quick] [--only STORE/LOCK/LOAD]... [--url URL] [--out "
    "FOLDER]\n"
    "                             [--rounds N] [--seconds S] [--fresh | --report]\n"
    "\n"
    "ratio NAME  runs the limit and holdfast in turn: a warm-up, then N pairs (5 or more; 7) of S\n"
    "            seconds a side (0.5), and prints as last line NAME ratio=MEDIAN min=MIN max=MAX\n"
    "ratio       runs all rows and prints a table\n"
    "list        the rows with their bars\n"
    "survey      measures every kind of lock on every kind of servers, and writes survey.json,\n"
    "            survey.md and survey.html into FOLDER (build/survey). An interrupted survey is\n"
    "            continued, except with --fresh; --report only writes the reports again\n"
    "  --quick   within three minutes instead of 45\n"
    "  --only    * or nothing stands for any: redis, redis/string, */*/free\n"
    "  --url     of servers that run already, instead of ones that are started\n"
    "  --rounds  of each load (3; quick: 1), interleaved; --seconds: their length (0.5; quick: "
    "0.4)\n"
    "FILE        default: bench/bars.toml of the sources\n"
    "\n"
    "exit codes: 0 every bar met, 1 a bar or a side condition missed, 64 usage, 70 not measured,\n"
    "            77 skipped: what the row needs is not here\n";

struct command_line {
  std::string verb, name, bars_file = bench::default_bars_file();
  bench::settings settings;
  std::vector<std::string> passed_on;  // the options as they came
};

command_line parse(const std::vector<std::string>& words) {
  command_line c;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("--")) {
      if (word != "--pairs" && word != "--seconds" && word != "--bars")
        throw bench::usage_error{"unknown option " + word};
      if (i + 1 == words.size()) throw bench::usage_error{word + " takes a value"};
      const std::string& value = words[++i];
      if (word == "--bars") c.bars_file = value;
      if (word == "--pairs")
        c.settings.pairs = static_cast<unsigned>(bench::number_of(word, value, 5, 1e4));
      if (word == "--seconds")
        c.settings.length = bench::seconds(bench::number_of(word, value, 1e-3, 3600));
      c.passed_on.insert(c.passed_on.end(), {word, value});
    } else if (c.verb.empty()) {
      c.verb = word;
    } else if (c.name.empty() && c.verb == "ratio") {
      c.name = word;
    } else {
      throw bench::usage_error{"one word too many: " + word};
    }
  }
  if (c.verb != "ratio" && c.verb != "list")
    throw bench::usage_error{c.verb.empty() ? "what to do?" : "unknown command " + c.verb};
  return c;
}

std::string all_names() {
  std::string names;
  for (const bench::row& r : bench::rows())
    names += (names.empty() ? "" : ", ") + std::string(r.name);
  return names;
}

void list(const std::vector<bench::bar>& bars) {
  for (const bench::row& r : bench::rows()) {
    const bench::bar& b = *bench::find_bar(bars, r.name);
    std::printf("%-18s %s %s %s, pinned to %d CPU%s\n", b.name.c_str(),
                b.how == bench::kind::rate ? "rate >=" : "cost <=", bench::plain(b.at).c_str(),
                b.unit.c_str(), b.cpus, b.cpus == 1 ? "" : "s");
    for (const auto& [figure, most] : b.at_most)
      std::printf("%-18s and %s <= %s\n", "", figure.c_str(), bench::plain(most).c_str());
    std::printf("%-18s %s\n", "", b.what.c_str());
  }
}

int run(const command_line& c) {
  const auto bars = bench::read_bars(c.bars_file);
  if (c.verb == "list") {
    list(bars);
    return 0;
  }
  if (c.name.empty()) return bench::run_all_rows(bars, c.passed_on) ? 0 : exit_missed;
  const bench::row* r = bench::find_row(c.name);
  if (!r) throw bench::usage_error{"no row is called \"" + c.name + "\"; there are " + all_names()};
  return bench::run_row(*r, *bench::find_bar(bars, r->name), c.settings) ? 0 : exit_missed;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == bench::worker_command)
    return bench::worker_main(argc - 2, argv + 2);
  if (!words.empty() && (words[0] == "help" || words[0] == "--help" || words[0] == "-h")) {
    std::fputs(usage_text, stdout);
    return 0;
  }
  try {
    if (!words.empty() && words[0] == "survey")
      return survey::command({words.begin() + 1, words.end()});
    return run(parse(words));
  } catch (const bench::usage_error& e) {
    std::fprintf(stderr, "holdfast_bench: %s\n\n%s", e.text.c_str(), usage_text);
    return exit_usage;
  } catch (const bench::row_skipped& e) {
    std::printf("skipped: %s\n", e.what());
    return exit_skipped;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "holdfast_bench: %s\n", e.what());
    return exit_failed;
  }
}
