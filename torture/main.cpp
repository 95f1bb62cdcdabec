// holdfast_torture: campaigns of random faults against real servers and real processes.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "contention/worker.hpp"
#include "torture/campaign.hpp"
#include "torture/many_waiters.hpp"
#include "torture/report.hpp"

namespace {

using namespace holdfast::torture;
using namespace holdfast::contention;

constexpr int exit_violated = 1, exit_usage = 64, exit_broken = 70, exit_skipped = 77;

constexpr const char* usage_text =
    "usage: holdfast_torture [--backend NAME] [--minutes M | --seconds S] [--seed N]\n"
    "                        [--recovery SECONDS] [--results FILE] [--plant VIOLATION]\n"
    "       holdfast_torture --list\n"
    "       holdfast_torture --matrix FILE\n"
    "\n"
    "Worker processes contend for locks on servers that this program starts, while faults strike\n"
    "workers, servers and the network at random. The seed repeats the choices of faults and of\n"
    "workers, but not the timing of the machine.\n"
    "\n"
    "--backend  one of --list; default: each of them\n"
    "--minutes  the length of each campaign; default: 1\n"
    "--seed     default: another one each time\n"
    "--recovery how long recovery may take after the faults have ended; default: 60 s\n"
    "--results  appends a line for each campaign to FILE\n"
    "--plant    plants a violation, to show that it is found: overlap, token, late-check,\n"
    "           stale-write, stuck, left-lock, left-key, left-connection, left-channel (redis),\n"
    "           left-session (zookeeper), left-transaction (mysql), left-thread, left-descriptor\n"
    "--list     the backends\n"
    "--matrix   prints the results of FILE as tables of Markdown\n"
    "\n"
    "exit codes: 0 no violation, 1 a violation, 64 usage, 70 a campaign could not be played,\n"
    "            77 no campaign was played: a server is not installed\n";

struct arguments {
  std::string backend, results, matrix;
  std::chrono::milliseconds length = std::chrono::minutes(1);
  std::chrono::milliseconds recovery_bound = std::chrono::seconds(60);
  std::uint64_t seed = std::random_device{}();
  plant planted = plant::nothing;
  bool lists = false;
};

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<plant> plant_of(std::string_view word) {
  const auto* const found = std::ranges::find(plant_words, word);
  if (found == plant_words.end()) return std::nullopt;
  return static_cast<plant>(found - plant_words.begin());
}

bool read_time(const std::string& value, double unit_ms, std::chrono::milliseconds& into) {
  const auto units = number_of<double>(value);
  if (!units || !(*units > 0) || *units > 10'000) return false;
  into = std::chrono::milliseconds(static_cast<std::int64_t>(*units * unit_ms));
  return true;
}

bool read_option(const std::string& name, const std::string& value, arguments& into) {
  if (name == "--backend") return into.backend = value, true;
  if (name == "--results") return into.results = value, true;
  if (name == "--matrix") return into.matrix = value, true;
  if (name == "--minutes") return read_time(value, 60'000, into.length);
  if (name == "--seconds") return read_time(value, 1'000, into.length);
  if (name == "--recovery") return read_time(value, 1'000, into.recovery_bound);
  if (name == "--seed") {
    const auto seed = number_of<std::uint64_t>(value);
    into.seed = seed.value_or(0);
    return seed.has_value();
  }
  const auto planted = name == "--plant" ? plant_of(value) : std::nullopt;
  into.planted = planted.value_or(plant::nothing);
  return planted.has_value();
}

std::optional<arguments> read_arguments(const std::vector<std::string>& words) {
  arguments read;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--list") {
      read.lists = true;
    } else if (i + 1 == words.size() || !read_option(words[i], words[i + 1], read)) {
      std::fprintf(stderr, "holdfast_torture: '%s' is not an option, or not with this value\n",
                   words[i].c_str());
      return std::nullopt;
    } else {
      ++i;
    }
  }
  return read;
}

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// The exit code.
int play(const kind_of_deployment& kind, const arguments& given) {
  if (!kind.lacking.empty()) {
    std::printf("%s: %s\n", kind.name.c_str(), kind.lacking.c_str());
    return exit_skipped;
  }
  const auto keep = std::filesystem::path(this_program()).parent_path() / "kept";
  const auto result = run_campaign(kind, {.program = this_program(),
                                          .keep = keep,
                                          .length = given.length,
                                          .recovery_bound = given.recovery_bound,
                                          .seed = given.seed,
                                          .planted = given.planted});
  std::fputs(to_text(result).c_str(), stdout);
  if (!given.results.empty()) append_result(given.results, result);
  if (result.violations.empty()) return 0;
  std::printf("again: ./dev torture --backend %s --seconds %lld --seed %llu\n", kind.name.c_str(),
              static_cast<long long>(given.length / std::chrono::seconds(1)),
              static_cast<unsigned long long>(given.seed));
  return exit_violated;
}

int play_all(const arguments& given) {
  int worst = exit_skipped;
  bool is_known = false;
  for (const kind_of_deployment& kind : all_deployments()) {
    if (!given.backend.empty() && kind.name != given.backend) continue;
    is_known = true;
    const int code = play(kind, given);
    if (code == exit_violated || worst == exit_skipped) worst = code;
    std::fflush(stdout);
  }
  if (is_known) return worst;
  std::fprintf(stderr, "holdfast_torture: there is no backend '%s'; --list shows all\n",
               given.backend.c_str());
  return exit_usage;
}

// --worker URL NAME FOLDER SEED PLANT, as the campaign calls it.
int play_worker(const std::vector<std::string>& words) {
  const std::string folder = words.at(3) + '/';
  return run_worker({.url = words.at(1),
                     .name = words.at(2),
                     .locks = names,
                     .ttl = lease_ttl,
                     .history = folder + words.at(2) + ".history",
                     .resource = folder + "resource",
                     .seed = number_of<std::uint64_t>(words.at(4)).value_or(0),
                     .planted = plant_of(words.at(5)).value_or(plant::nothing),
                     .draws_options = true});
}

// --waiters URL NAME FOLDER SEED, as the campaign calls it.
int play_many_waiters(const std::vector<std::string>& words) {
  return run_many_waiters({.url = words.at(1),
                           .name = words.at(2),
                           .history = words.at(3) + '/' + words.at(2) + ".history",
                           .seed = number_of<std::uint64_t>(words.at(4)).value_or(0)});
}

int run(const std::vector<std::string>& words) {
  if (!words.empty() && words.front() == "--worker") return play_worker(words);
  if (!words.empty() && words.front() == "--waiters") return play_many_waiters(words);
  if (!words.empty() && (words.front() == "--help" || words.front() == "-h"))
    return std::fputs(usage_text, stdout), 0;
  const auto given = read_arguments(words);
  if (!given) return std::fputs(usage_text, stderr), exit_usage;
  if (given->lists) {
    for (const auto& kind : all_deployments()) std::printf("%s\n", kind.name.c_str());
    return 0;
  }
  if (!given->matrix.empty())
    return std::fputs(to_markdown(read_results(given->matrix)).c_str(), stdout), 0;
  return play_all(*given);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "holdfast_torture: %s\n", e.what());
    return exit_broken;
  }
}
