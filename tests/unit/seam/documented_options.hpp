// The defaults of options of a URL, as docs/options.md has them.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::settings_unit {

// The name and the default in the rows of a section, as in "| `ttl` | `30s` | ... |". Left out are
// rows of several options, and those whose default is described in words.
inline std::vector<std::pair<std::string, std::string>> documented_defaults(
    std::string_view section) {
  const char* const docs = std::getenv("HOLDFAST_DOCS");
  std::ifstream page(std::filesystem::path(docs ? docs : "docs") / "options.md");
  const std::string title = "## " + std::string(section);
  const std::regex row(R"(^\| `([-a-z]+)` \| `([^`]+)` \|)");
  std::vector<std::pair<std::string, std::string>> out;
  bool is_in_section = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_in_section = line == title;
    std::smatch found;
    if (is_in_section && std::regex_search(line, found, row)) out.emplace_back(found[1], found[2]);
  }
  return out;
}

}  // namespace holdfast::settings_unit
