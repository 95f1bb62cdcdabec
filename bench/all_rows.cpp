#include "all_rows.hpp"

#include <cstdio>

#include "child_process.hpp"
#include "ratio_file.hpp"

namespace bench {
namespace {

void run_in_a_process(const bar& b, const std::vector<std::string>& options) {
  std::vector<std::string> argv = {own_program(), "ratio", b.name};
  argv.insert(argv.end(), options.begin(), options.end());
  child_process child(argv);
  child.wait();
}

std::string figure_text(const row_result& r, double spread::*part) {
  return r.verdict == "met" || r.verdict == "missed" ? plain(r.figure.*part) : "-";
}

void print_row(const bar& b, const row_result& r) {
  const std::string bar_text = (b.how == kind::rate ? "rate >= " : "cost <= ") + plain(b.at);
  std::printf("%-24s %10s %10s %10s  %-15s %-17s %s%s%s\n", b.name.c_str(),
              figure_text(r, &spread::median).c_str(), figure_text(r, &spread::min).c_str(),
              figure_text(r, &spread::max).c_str(), bar_text.c_str(), b.unit.c_str(),
              r.verdict.c_str(), r.reason.empty() ? "" : ": ", r.reason.c_str());
}

}  // namespace

bool run_all_rows(const std::vector<bar>& bars, const std::vector<std::string>& options,
                  const settings& s, const std::string& path) {
  ratio_file::continued(path, s);
  for (const row& r : rows()) {
    const bar& b = *find_bar(bars, r.name);
    const auto earlier = ratio_file::opened(path, s).result_of(b.name);
    if (earlier && earlier->verdict != "failed") continue;
    run_in_a_process(b, options);
    ratio_file file = ratio_file::opened(path, s);
    if (!file.result_of(b.name))
      file.add(b, {.name = b.name,
                   .verdict = "failed",
                   .reason = "its process ended without a result"});
    std::printf("\n");
    std::fflush(stdout);
  }
  ratio_file file = ratio_file::opened(path, s);
  file.finish();
  std::printf("%-24s %10s %10s %10s  %-15s %-17s %s\n", "name", "median", "min", "max", "bar",
              "unit", "result");
  bool all_met = true;
  for (const row& r : rows()) {
    const row_result result = *file.result_of(std::string(r.name));
    print_row(*find_bar(bars, r.name), result);
    all_met = all_met && (result.verdict == "met" || result.verdict == "skipped");
  }
  return all_met;
}

}  // namespace bench
