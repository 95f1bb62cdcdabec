#include "survey/command.hpp"

#include <holdfast/log.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "data_folder.hpp"
#include "option_value.hpp"
#include "survey/report.hpp"
#include "survey/result_file.hpp"
#include "survey/versions.hpp"

namespace survey {
namespace {

struct words {
  plan what;
  std::string folder = bench::is_installed_program() ? "holdfast-survey" : "build/survey";
  bool is_fresh = false, only_report = false;
};

constexpr std::string_view with_value[] = {"--only", "--url", "--out", "--rounds", "--seconds"};

words parse(const std::vector<std::string>& all) {
  words w;
  if (std::ranges::find(all, "--quick") != all.end()) w.what = plan::quick();  // before the others
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string& word = all[i];
    if (word == "--quick") continue;
    if (word == "--peers") {
      w.what.with_peers = true;
      continue;
    }
    if (word == "--fresh" || word == "--report") {
      (word == "--fresh" ? w.is_fresh : w.only_report) = true;
      continue;
    }
    if (std::ranges::find(with_value, word) == std::end(with_value))
      throw bench::usage_error{"unknown option " + word};
    if (i + 1 == all.size()) throw bench::usage_error{word + " takes a value"};
    const std::string& value = all[++i];
    if (word == "--only") w.what.only.push_back(value);
    if (word == "--url") w.what.url = value;
    if (word == "--out") w.folder = value;
    if (word == "--rounds")
      w.what.rounds = static_cast<unsigned>(bench::number_of(word, value, 1, 1000));
    if (word == "--seconds")
      w.what.length = std::chrono::duration<double>(bench::number_of(word, value, 0.05, 3600));
  }
  return w;
}

results results_in(const std::string& text, const std::string& file) try {
  return from_json(text);
} catch (const std::exception& e) {
  throw std::runtime_error(file + " is " + e.what() + "; remove it, or begin again with --fresh");
}

results first_results(const words& w, const std::string& file) {
  const std::string text = read_file(file);
  if (!text.empty() && !w.is_fresh) {
    results earlier = results_in(text, file);
    if (w.only_report || earlier.continues(w.what)) return earlier;
  }
  if (w.only_report) throw std::runtime_error(file + " does not exist: run the survey first");
  return {.is_quick = w.what.is_quick,
          .with_peers = w.what.with_peers,
          .url = without_password(w.what.url),
          .only = w.what.only,
          .where = machine::here(),
          .versions = versions_here()};
}

bool is_bad(const cell& c) { return !c.is_unsafe && verdict(c) == "failed"; }

}  // namespace

int command(const std::vector<std::string>& all) {
  const words w = parse(all);
  std::filesystem::create_directories(w.folder);
  const std::string file = w.folder + "/survey.json";
  // The warnings about demonstrations and servers that are down are what is measured.
  holdfast::set_log_hook([](holdfast::log_level, std::string_view, void*) {});
  results r = first_results(w, file);
  if (!w.only_report) run_survey(w.what, r, file);
  write_reports(r, w.folder);
  return std::ranges::any_of(r.cells, is_bad) ? 1 : 0;
}

}  // namespace survey
