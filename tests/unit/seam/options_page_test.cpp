// docs/options.md has the default of each option that every store has.
#include <gtest/gtest.h>
#include <holdfast/url.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "seam/client_options.hpp"

namespace holdfast {
namespace {

// The name and the default in rows of the section "Every store", as in "| `ttl` | `30s` | ... |".
std::vector<std::pair<std::string, std::string>> documented_defaults() {
  const char* const docs = std::getenv("HOLDFAST_DOCS");
  std::ifstream page(std::filesystem::path(docs ? docs : "docs") / "options.md");
  const std::regex row(R"(^\| `([-a-z]+)` \| `([^`]+)` \|)");
  std::vector<std::pair<std::string, std::string>> out;
  bool is_in_section = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) is_in_section = line == "## Every store";
    std::smatch found;
    if (is_in_section && std::regex_search(line, found, row)) out.emplace_back(found[1], found[2]);
  }
  return out;
}

auto values_of(const seam::client_options& o) {
  return std::tuple(o.ttl, o.renew, o.grace, o.clock_skew, o.connect_timeout, o.op_timeout,
                    o.close_timeout, o.outage_timeout, o.turns, o.turn_time, o.linger,
                    o.admit_after_loss, o.metrics, o.recorder, o.strict);
}

TEST(options_page, has_the_default_of_each_option_of_every_store) {
  const auto rows = documented_defaults();
  EXPECT_EQ(rows.size(), std::tuple_size_v<decltype(values_of(seam::client_options()))>);
  for (const auto& [option, value] : rows) {
    std::vector<url::option> rest;
    const auto read =
        seam::read_client_options(url::parse("memory:?" + option + "=" + value), rest);
    EXPECT_TRUE(rest.empty()) << option;
    EXPECT_TRUE(values_of(read) == values_of(seam::client_options())) << option << '=' << value;
  }
}

}  // namespace
}  // namespace holdfast
