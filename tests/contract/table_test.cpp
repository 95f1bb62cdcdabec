// The table of behaviours, the limits of "not applicable", and docs/contract.md agree.
#include <gtest/gtest.h>

#include <cctype>
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
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../docs/contract.md";
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
  for (const auto& backend : backends_under_test()) {
    std::size_t count = 0;
    for (const auto& b : all_behaviours())
      if (!not_applicable(b, backend).empty()) ++count;
    EXPECT_LE(count, backend.most_not_applicable) << backend.name;
  }
}

}  // namespace
}  // namespace contract
