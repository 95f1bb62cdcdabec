#include "torture/report.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace holdfast::torture {
namespace {

std::string minutes_text(std::chrono::milliseconds length) {
  const auto tenths = (length.count() + 3000) / 6000;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10);
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text + ' ';
}

struct sum {
  std::string deployment;
  std::vector<std::uint64_t> seeds;
  std::chrono::milliseconds length{};
  std::uint64_t calls = 0, grants = 0, losses = 0, writes = 0, refused = 0, excused = 0;
  std::size_t violations = 0;
  std::map<std::string, std::uint64_t> faults{};
};

// In the order in which the deployments were first seen.
std::vector<sum> sums_of(const std::vector<campaign_result>& all) {
  std::vector<sum> sums;
  for (const campaign_result& r : all) {
    auto found = std::ranges::find(sums, r.deployment, &sum::deployment);
    if (found == sums.end()) found = sums.insert(sums.end(), {.deployment = r.deployment});
    found->seeds.push_back(r.seed);
    found->length += r.length;
    found->calls += r.calls;
    found->grants += r.grants;
    found->losses += r.losses;
    found->writes += r.writes;
    found->refused += r.refused_writes;
    found->excused += r.excused;
    found->violations += r.violations.size();
    for (const auto& [name, count] : r.faults) found->faults[name] += count;
  }
  return sums;
}

std::string table_of_sums(const std::vector<sum>& all) {
  std::string text =
      "| backend | seeds | minutes | calls | grants | losses | writes | of these refused | excused "
      "| violations |\n|---|---|---|---|---|---|---|---|---|---|\n";
  for (const sum& s : all) {
    text += "| " + s.deployment + " | ";
    for (const auto seed : s.seeds)
      text += (seed == s.seeds.front() ? "" : ", ") + std::to_string(seed);
    text += " | " + minutes_text(s.length);
    for (const std::uint64_t number : {s.calls, s.grants, s.losses, s.writes, s.refused, s.excused,
                                       static_cast<std::uint64_t>(s.violations)})
      text += " | " + std::to_string(number);
    text += " |\n";
  }
  return text;
}

std::string table_of_faults(const std::vector<sum>& all) {
  std::set<std::string> names;
  for (const sum& s : all)
    for (const auto& [name, count] : s.faults) names.insert(name);
  std::string text = "| fault |", line = "|---|";
  for (const sum& s : all) {
    text += ' ' + s.deployment + " |";
    line += "---|";
  }
  text += '\n' + line + '\n';
  for (const std::string& name : names) {
    text += "| " + name + " |";
    for (const sum& s : all) {
      const auto found = s.faults.find(name);
      text += found == s.faults.end() ? " |" : ' ' + std::to_string(found->second) + " |";
    }
    text += '\n';
  }
  return text;
}

}  // namespace

std::string to_text(const campaign_result& r) {
  std::string text =
      r.deployment + ", seed " + std::to_string(r.seed) + ", " + minutes_text(r.length) + " min\n";
  const auto line = [&text](const std::string& name, const std::string& value) {
    text += "  " + padded(name, 24) + value + '\n';
  };
  line("calls", std::to_string(r.calls));
  line("grants", std::to_string(r.grants));
  line("losses", std::to_string(r.losses));
  line("writes", std::to_string(r.writes) + ", of which the fence refused " +
                     std::to_string(r.refused_writes));
  for (const auto& [name, count] : r.faults) line(name, std::to_string(count));
  for (const std::string& reason : r.not_played) line("not played", reason);
  if (r.excused != 0)
    line("excused", std::to_string(r.excused) + " while this backend makes no promise");
  line("violations", std::to_string(r.violations.size()));
  for (const std::string& violation : r.violations) text += violation + '\n';
  if (!r.history.empty()) text += "the history is kept in " + r.history + '\n';
  return text;
}

void append_result(const std::string& path, const campaign_result& r) {
  std::ofstream file(path, std::ios::app);
  file << r.deployment << ' ' << r.seed << ' ' << r.length.count() << ' ' << r.calls << ' '
       << r.grants << ' ' << r.losses << ' ' << r.writes << ' ' << r.refused_writes << ' '
       << r.excused << ' ' << r.violations.size();
  for (const auto& [name, count] : r.faults) file << ' ' << name << ' ' << count;
  file << '\n' << std::flush;
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot write " + path);
}

std::vector<campaign_result> read_results(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("there are no results in " + path + ": run a campaign first");
  std::vector<campaign_result> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    campaign_result r;
    std::int64_t length = 0;
    std::size_t violations = 0;
    if (!(words >> r.deployment >> r.seed >> length >> r.calls >> r.grants >> r.losses >>
          r.writes >> r.refused_writes >> r.excused >> violations))
      throw std::runtime_error("a line of " + path + " is not a result: " + line);
    r.length = std::chrono::milliseconds(length);
    r.violations.resize(violations);
    std::string name;
    for (std::uint64_t count = 0; words >> name >> count;) r.faults[name] += count;
    all.push_back(std::move(r));
  }
  return all;
}

std::string to_markdown(const std::vector<campaign_result>& all) {
  const auto sums = sums_of(all);
  return table_of_sums(sums) + '\n' + table_of_faults(sums);
}

}  // namespace holdfast::torture
