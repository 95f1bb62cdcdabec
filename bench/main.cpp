// holdfast-bench: what holdfast costs, as ratios to limits taken in the same run.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "handoff.hpp"
#include "option_value.hpp"
#include "ratio_command.hpp"
#include "row.hpp"
#include "survey/command.hpp"

namespace {

constexpr int exit_usage = 64, exit_failed = 70, exit_skipped = 77;

bool asks_for_help(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  return words[0] == "help" || std::ranges::any_of(words, [](const std::string& w) {
           return w == "--help" || w == "-h";
         });
}

constexpr const char* usage_text =
    "usage: holdfast-bench ratio [NAME] [--peers] [--pairs N] [--seconds S] [--out FILE]\n"
    "                            [--bars FILE]\n"
    "       holdfast-bench list [--bars FILE]\n"
    "       holdfast-bench survey [--quick] [--peers] [--only STORE/LOCK/LOAD]... [--url URL]\n"
    "                             [--out FOLDER] [--rounds N] [--seconds S] [--fresh | --report]\n"
    "\n"
    "ratio NAME  runs the limit and holdfast in turn: a warm-up, then N pairs (5 or more; 7) of S\n"
    "            seconds a side (0.5), and prints as last line NAME ratio=MEDIAN min=MIN max=MAX\n"
    "ratio       runs all rows and prints one table\n"
    "  --peers   also runs other libraries at the work of the row; one that is not available is\n"
    "            reported as skipped\n"
    "  --out     writes the results to FILE as JSON. An unfinished run of all rows is continued\n"
    "list        the rows with their bars\n"
    "survey      measures every kind of lock on every kind of servers, and writes survey.json,\n"
    "            survey.md and survey.html into FOLDER (build/survey; holdfast-survey for an\n"
    "            installed program). An interrupted survey is continued, except with --fresh;\n"
    "            --report only writes the reports again\n"
    "  --quick   within three minutes instead of 45\n"
    "  --peers   also the real Redisson, Curator and kazoo\n"
    "  --only    * or nothing stands for any: redis, redis/string, */*/free\n"
    "  --url     of servers that run already, instead of ones that are started\n"
    "  --rounds  of each load (3; quick: 1), interleaved; --seconds: their length (0.45; quick: "
    "0.4)\n"
    "  --bars    the bars; default: those of this version\n"
    "\n"
    "exit codes: 0 every bar met, 1 a bar or a side condition missed, 64 usage, 70 not measured,\n"
    "            77 skipped: what the row needs is not here\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == bench::worker_command)
    return bench::worker_main(argc - 2, argv + 2);
  if (asks_for_help(words)) {
    std::fputs(usage_text, stdout);
    return 0;
  }
  try {
    if (!words.empty() && words[0] == "survey")
      return survey::command({words.begin() + 1, words.end()});
    return bench::ratio_command(words);
  } catch (const bench::usage_error& e) {
    std::fprintf(stderr, "holdfast-bench: %s\n\n%s", e.text.c_str(), usage_text);
    return exit_usage;
  } catch (const bench::row_skipped& e) {
    std::printf("skipped: %s\n", e.what());
    return exit_skipped;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "holdfast-bench: %s\n", e.what());
    return exit_failed;
  }
}
