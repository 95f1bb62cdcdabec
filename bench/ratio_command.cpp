#include "ratio_command.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>

#include "all_rows.hpp"
#include "bars.hpp"
#include "option_value.hpp"
#include "ratio_file.hpp"
#include "runner.hpp"
#include "scratch_folder.hpp"

namespace bench {
namespace {

constexpr int exit_missed = 1;

struct command_line {
  std::string verb, name, out, bars_file = default_bars_file();
  bench::settings settings;
  std::vector<std::string> passed_on;  // the options for each row
};

constexpr std::string_view with_value[] = {"--pairs", "--seconds", "--bars", "--out"};

void set_option(command_line& c, const std::string& option, const std::string& value) {
  if (option == "--bars") c.bars_file = value;
  if (option == "--out") {
    c.out = value;
    return;
  }
  if (option == "--pairs")
    c.settings.pairs = static_cast<unsigned>(number_of(option, value, 5, 1e4));
  if (option == "--seconds") c.settings.length = seconds(number_of(option, value, 1e-3, 3600));
  c.passed_on.insert(c.passed_on.end(), {option, value});
}

command_line parse(const std::vector<std::string>& words) {
  command_line c;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--peers") {
      c.settings.with_peers = true;
      c.passed_on.push_back(word);
    } else if (word.starts_with("--")) {
      if (std::ranges::find(with_value, word) == std::end(with_value))
        throw usage_error{"unknown option " + word};
      if (i + 1 == words.size()) throw usage_error{word + " takes a value"};
      set_option(c, word, words[++i]);
    } else if (c.verb.empty()) {
      c.verb = word;
    } else if (c.name.empty() && c.verb == "ratio") {
      c.name = word;
    } else {
      throw usage_error{"unexpected argument " + word};
    }
  }
  if (c.verb != "ratio" && c.verb != "list")
    throw usage_error{c.verb.empty() ? "a command is missing" : "unknown command " + c.verb};
  return c;
}

std::string all_names() {
  std::string names;
  for (const row& r : rows()) names += (names.empty() ? "" : ", ") + std::string(r.name);
  return names;
}

void list(const std::vector<bar>& bars) {
  for (const row& r : rows()) {
    const bar& b = *find_bar(bars, r.name);
    std::printf("%-24s %s %s %s, pinned to %d CPU%s\n", b.name.c_str(),
                b.how == kind::rate ? "rate >=" : "cost <=", plain(b.at).c_str(), b.unit.c_str(),
                b.cpus, b.cpus == 1 ? "" : "s");
    for (const auto& [figure, most] : b.at_most)
      std::printf("%-24s and %s <= %s\n", "", figure.c_str(), plain(most).c_str());
    std::printf("%-24s %s\n", "", b.what.c_str());
  }
}

void record(const command_line& c, const bar& b, const row_result& result) {
  if (!c.out.empty()) ratio_file::opened(c.out, c.settings).add(b, result);
}

bool run_one(const command_line& c, const row& r, const bar& b) try {
  const row_result result = run_row(r, b, c.settings);
  record(c, b, result);
  return result.verdict == "met";
} catch (const row_skipped& why) {
  record(c, b, {.name = b.name, .verdict = "skipped", .reason = why.what()});
  throw;
} catch (const std::exception& e) {
  record(c, b, {.name = b.name, .verdict = "failed", .reason = e.what()});
  throw;
}

bool run_all(command_line c, const std::vector<bar>& bars) {
  const scratch_folder scratch;
  if (c.out.empty()) c.out = scratch.file("ratio.json");
  c.passed_on.insert(c.passed_on.end(), {"--out", c.out});
  return run_all_rows(bars, c.passed_on, c.settings, c.out);
}

}  // namespace

int ratio_command(const std::vector<std::string>& words) {
  const command_line c = parse(words);
  const auto bars = read_bars(c.bars_file);
  if (c.verb == "list") {
    list(bars);
    return 0;
  }
  if (c.name.empty()) return run_all(c, bars) ? 0 : exit_missed;
  const row* r = find_row(c.name);
  if (!r) throw usage_error{"no row is called \"" + c.name + "\"; the rows are " + all_names()};
  return run_one(c, *r, *find_bar(bars, r->name)) ? 0 : exit_missed;
}

}  // namespace bench
