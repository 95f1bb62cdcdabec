// The defaults of options of a URL, as docs/options.md has them.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::settings_unit {

struct documented_default {
  std::string section, option, value;
};

// The defaults of rows such as "| `ttl` | `30s` | ... |". All options of one row have its default.
// Rows that describe a default in words are left out.
inline std::vector<documented_default> all_documented_defaults() {
  const char* const docs = std::getenv("HOLDFAST_DOCS");
  std::ifstream page(std::filesystem::path(docs ? docs : "docs") / "options.md");
  const std::regex row(R"(^\| (`[-a-z]+`(, `[-a-z]+`)*) \| `([^`]+)` \|)");
  const std::regex name("[-a-z]+");
  std::vector<documented_default> out;
  std::string section;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    std::smatch found;
    if (!std::regex_search(line, found, row)) continue;
    const std::string names = found[1];
    for (std::sregex_iterator i(names.begin(), names.end(), name), end; i != end; ++i)
      out.push_back({section, i->str(), found[3]});
  }
  return out;
}

// The options and defaults of a section.
inline std::vector<std::pair<std::string, std::string>> documented_defaults(
    std::string_view section) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const documented_default& d : all_documented_defaults())
    if (d.section == section) out.emplace_back(d.option, d.value);
  return out;
}

inline std::set<std::string> sections_with_defaults() {
  std::set<std::string> out;
  for (const documented_default& d : all_documented_defaults()) out.insert(d.section);
  return out;
}

}  // namespace holdfast::settings_unit
