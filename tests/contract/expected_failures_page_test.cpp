// docs/internals/contract.md lists the behaviours that layouts lack.
// The page lists all backends, so a build that lacks one cannot be compared with it.
#if defined(HOLDFAST_WITH_MEMORY) && defined(HOLDFAST_WITH_REDIS) && \
    defined(HOLDFAST_WITH_ZOOKEEPER) && defined(HOLDFAST_WITH_MYSQL)
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "behaviour.hpp"
#include "tests/written_part.hpp"

namespace contract {
namespace {

// The scheme of its URLs, its layout and an option that matters, as docs/features.md has them.
std::string name_on_page(const subject_under_test& on) {
  struct deployment {
    std::string_view name_starts_with, scheme, option;
  };
  static constexpr deployment deployments[] = {{"sentinel_", "redis+sentinel:", ""},
                                               {"cluster_", "redis+cluster:", ""},
                                               {"shards_", "redis+shards:", ""},
                                               {"changing_shards_", "redis+shards:", "was="},
                                               {"redlock_", "redlock:", ""}};
  std::string scheme(on.name.substr(on.name.rfind('_') + 1)), option;
  scheme += ':';
  for (const deployment& d : deployments)
    if (on.name.starts_with(d.name_starts_with)) {
      scheme = d.scheme;
      option = d.option;
    }
  std::string layout(on.options.substr(on.options.find('=') + 1));
  layout.resize(std::min(layout.find('&'), layout.size()));
  if (layout.empty() && scheme.starts_with("redis")) layout = "string";
  if (layout.empty() && scheme == "mysql:") layout = "row";
  std::string out = '`' + scheme + '`';
  for (const std::string& more : {layout, option})
    if (!more.empty()) out += " `" + more + '`';
  return out;
}

// The page does not say in which modes a behaviour fails.
const expected_failure* expected_in_any_mode(const behaviour& b, const subject_under_test& on) {
  for (const mode as : all_modes)
    if (b.modes.has(as) && on.modes.has(as))
      if (const expected_failure* const e = failure_expected_of(b, as, on)) return e;
  return nullptr;
}

// "a_free_lock_is_granted" is "A free lock is granted (1)".
std::string sentence_and_number(const behaviour& b) {
  std::string out(b.name);
  std::ranges::replace(out, '_', ' ');
  out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  return out + " (" + std::to_string(b.number) + ')';
}

// One for each reason.
std::vector<std::string> rows_of(const subject_under_test& on) {
  std::vector<std::pair<std::string_view, std::string>> all;  // reason, behaviours
  for (const behaviour& b : all_behaviours()) {
    const expected_failure* const e = expected_in_any_mode(b, on);
    if (!e || !not_applicable(b, on).empty()) continue;
    auto found = std::ranges::find_if(all, [&](const auto& row) { return row.first == e->reason; });
    if (found == all.end()) found = all.emplace(all.end(), e->reason, "");
    if (!found->second.empty()) found->second += "; ";
    found->second += sentence_and_number(b);
  }
  std::vector<std::string> out;
  for (const auto& [reason, behaviours] : all)
    out.push_back("| " + name_on_page(on) + " | " + behaviours + " | " + std::string(reason) +
                  " |\n");
  return out;
}

// HOLDFAST_WRITE_PAGES=1 writes the table into the page.
TEST(contract_table, the_page_lists_the_behaviours_that_layouts_lack) {
  std::string expected = "| layout | behaviours that it lacks | reason |\n"
                         "|---|---|---|\n";
  for (const subject_under_test& on : subjects_under_test())
    for (const std::string& row : rows_of(on))  // an ensemble has the rows of one server
      if (expected.find(row) == expected.npos) expected += row;
  holdfast::pages::compare_written_part("internals/contract.md",
                                        "<!-- expected failures: written by contract_tests -->\n",
                                        expected);
}

}  // namespace
}  // namespace contract
#endif
