// The table of behaviours, the limits of "not applicable", and docs/internals/contract.md agree.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "behaviour.hpp"

namespace contract {
namespace {

std::string letters_of(const in_modes& modes) {
  std::string letters;
  for (const mode one : all_modes)
    if (modes.has(one)) letters += word_of(one).front();
  return letters;
}

// "| 7 | A stale unlock harms nobody | esp | ..." is 7 and "a_stale_unlock_harms_nobody esp".
std::map<int, std::string> documented_behaviours() {
  const char* const docs = std::getenv("HOLDFAST_DOCS");
  const auto path = std::filesystem::path(docs ? docs : "docs") / "internals/contract.md";
  std::ifstream page(path);
  EXPECT_TRUE(page.is_open()) << path;
  std::map<int, std::string> found;
  for (std::string line; std::getline(page, line);) {
    std::istringstream cells(line);
    std::string nothing, number, sentence, modes;
    std::getline(cells, nothing, '|');
    std::getline(cells, number, '|');
    std::getline(cells, sentence, '|');
    cells >> modes;
    if (!nothing.empty() || number.find_first_of("0123456789") == std::string::npos) continue;
    std::string name;
    for (const char c : sentence) {
      const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
      if (letter)
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      else if (!name.empty() && name.back() != '_')
        name += '_';
    }
    while (name.ends_with('_')) name.pop_back();
    EXPECT_TRUE(found.emplace(std::stoi(number), name + " " + modes).second)
        << number << " stands there twice";
  }
  return found;
}

TEST(contract_table, every_behaviour_has_one_number_counted_from_1) {
  int expected = 0;
  for (const auto& b : all_behaviours()) EXPECT_EQ(b.number, ++expected) << b.name;
  EXPECT_GE(expected, 90);
}

TEST(contract_table, every_behaviour_has_a_name_of_its_own) {
  std::set<std::string_view> seen;
  for (const auto& b : all_behaviours()) EXPECT_TRUE(seen.insert(b.name).second) << b.name;
}

TEST(contract_table, the_page_lists_these_behaviours_and_no_others) {
  std::map<int, std::string> table;
  for (const auto& b : all_behaviours())
    table[b.number] = std::string(b.name) + " " + letters_of(b.modes);
  EXPECT_EQ(documented_behaviours(), table);
}

TEST(contract_table, few_behaviours_are_not_applicable) {
  for (const auto& on : subjects_under_test()) {
    std::size_t count = 0;
    for (const auto& b : all_behaviours())
      if (!not_applicable(b, on).empty()) ++count;
    EXPECT_LE(count, on.most_not_applicable) << on.name;
  }
}

TEST(contract_table, an_expected_failure_is_one_of_a_behaviour_and_has_a_reason) {
  std::set<std::string_view> names;
  for (const auto& b : all_behaviours()) names.insert(b.name);
  for (const auto& on : subjects_under_test())
    for (const auto& e : on.expected_failures) {
      EXPECT_TRUE(names.contains(e.behaviour)) << on.name << ": " << e.behaviour;
      EXPECT_GT(e.reason.size(), 10u) << on.name << ": " << e.behaviour;
    }
}

const behaviour needs_a_ttl{1, "needs_a_ttl", played::in_both, at_the_store, needs::ttl, nullptr};
const behaviour needs_a_deadline{2,      "needs_a_deadline", played::in_both,
                                 shared, needs::deadline,    nullptr};

TEST(contract_table, what_is_needed_is_found_in_the_lifetime_of_leases) {
  for (const auto& [life, has_ttl, has_deadline] : {std::tuple{lifetime::ttl, true, true},
                                                    {lifetime::session, false, true},
                                                    {lifetime::connection, false, true},
                                                    {lifetime::process, false, false}}) {
    const subject_under_test on{.name = "made_up", .make = nullptr, .life = life, .can = {}};
    EXPECT_EQ(not_applicable(needs_a_ttl, on).empty(), has_ttl);
    EXPECT_EQ(not_applicable(needs_a_deadline, on).empty(), has_deadline);
  }
}

TEST(contract_table, a_layout_shows_what_is_of_its_modes) {
  const subject_under_test on{.name = "made_up", .make = nullptr, .modes = of_a_mutex, .can = {}};
  EXPECT_EQ(not_applicable(needs_a_ttl, on), "");
  EXPECT_EQ(not_applicable(needs_a_deadline, on), "it has none of these kinds of locks");
}

TEST(contract_table, a_failure_is_expected_in_the_modes_that_are_listed) {
  const subject_under_test on{.name = "made_up",
                              .make = nullptr,
                              .can = {},
                              .expected_failures = {
                                  {"needs_a_ttl", "it keeps no queue of waiters", exclusively}}};
  EXPECT_EQ(failure_expected_of(needs_a_ttl, mode::exclusive, on), &on.expected_failures[0]);
  EXPECT_EQ(failure_expected_of(needs_a_ttl, mode::shared, on), nullptr);
  EXPECT_EQ(failure_expected_of(needs_a_deadline, mode::exclusive, on), nullptr);
}

TEST(contract_table, what_fails_on_any_thread_or_throws_is_a_failure_and_nothing_else_is) {
  EXPECT_EQ(failure_in([] { EXPECT_EQ(1, 1); }), "");
  EXPECT_NE(failure_in([] { EXPECT_EQ(1, 2); }), "");
  EXPECT_NE(failure_in([] { std::jthread([] { ADD_FAILURE() << "elsewhere"; }); }), "");
  EXPECT_EQ(failure_in([] { throw std::runtime_error("on purpose"); }), "threw: on purpose");
}

TEST(contract_table, options_are_added_to_those_that_a_url_has) {
  EXPECT_EQ(with_options("redis://host", "layout=lua"), "redis://host?layout=lua");
  EXPECT_EQ(with_options("redis://host?ttl=1s", "layout=lua"), "redis://host?ttl=1s&layout=lua");
  EXPECT_EQ(with_options("redis://host", ""), "redis://host");
}

}  // namespace
}  // namespace contract
