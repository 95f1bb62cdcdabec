#include "all_rows.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <system_error>

#include "child_process.hpp"

namespace bench {
namespace {

struct result {
  std::string figure = "-", min = "-", max = "-";
  std::string verdict;
};

// Copies what comes out of the descriptor to standard output; the last line of it.
std::string pass_on(int from) {
  std::string all;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t n = read(from, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    const std::string_view text(piece.data(), static_cast<std::size_t>(n));
    std::cout << text << std::flush;
    all += text;
  }
  while (!all.empty() && all.back() == '\n') all.pop_back();
  const auto newline = all.rfind('\n');
  return newline == std::string::npos ? all : all.substr(newline + 1);
}

result read_last_line(const std::string& line, const std::string& name) {
  result r;
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != name) return r;
  while (words >> word) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "ratio") r.figure = value;
    if (key == "min") r.min = value;
    if (key == "max") r.max = value;
  }
  return r;
}

result run_in_a_process(const bar& b, const std::vector<std::string>& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::vector<std::string> argv = {own_program(), "ratio", b.name};
  argv.insert(argv.end(), options.begin(), options.end());
  child_process child(argv, ends[1]);
  close(ends[1]);
  result r = read_last_line(pass_on(ends[0]), b.name);
  close(ends[0]);
  const int code = child.wait();
  r.verdict = code == 0 ? "met" : code == 1 ? "MISSED" : code == 77 ? "skipped" : "FAILED";
  return r;
}

}  // namespace

bool run_all_rows(const std::vector<bar>& bars, const std::vector<std::string>& options) {
  bool all_met = true;
  std::vector<result> results;
  for (const row& r : rows()) {
    results.push_back(run_in_a_process(*find_bar(bars, r.name), options));
    std::cout << '\n';
    const std::string& verdict = results.back().verdict;
    all_met = all_met && (verdict == "met" || verdict == "skipped");
  }
  std::printf("%-18s %10s %10s %10s  %-14s %-16s %s\n", "name", "median", "min", "max", "bar",
              "unit", "verdict");
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bar& b = *find_bar(bars, rows()[i].name);
    const std::string limit = (b.how == kind::rate ? "rate >= " : "cost <= ") + plain(b.at);
    std::printf("%-18s %10s %10s %10s  %-14s %-16s %s\n", b.name.c_str(), results[i].figure.c_str(),
                results[i].min.c_str(), results[i].max.c_str(), limit.c_str(), b.unit.c_str(),
                results[i].verdict.c_str());
  }
  return all_met;
}

}  // namespace bench
