// The rules that `./dev sim --all` prints for a layout are those that its schedules are judged by.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>

#include "tests/sim/machine/explorer.hpp"
#include "tests/sim/program/playable.hpp"

namespace holdfast::sim {
namespace {

std::string row_of(const playable& l) { return l.backend + ' ' + title_of(l); }

// By title: the rules in the table of the program.
std::map<std::string, std::string> printed_rules() {
  std::map<std::string, std::string> letters, out;
  FILE* const from = ::popen(HOLDFAST_SIM " --all --minutes 0.0001", "r");
  for (char line[1024]; from && std::fgets(line, sizeof line, from);) {
    std::string shown(line);
    shown.pop_back();
    if (shown.starts_with("rules ")) {
      for (const auto& [title, letter] : letters)
        if (letter == shown.substr(6, 1)) out[title] = shown.substr(9);
      continue;
    }
    std::istringstream words(shown);
    std::string title, word;
    words >> title;
    while (words >> word && std::isdigit(static_cast<unsigned char>(word[0])) == 0)
      title += ' ' + word;
    if (title.ends_with(',')) title += " 2 servers";
    letters[title] = shown.back();
  }
  EXPECT_EQ(from ? ::pclose(from) : -1, 0);
  return out;
}

progress played(const playable& l, std::uint64_t schedules) {
  progress out;
  explore_all(
      1, l.draw, l.play,
      [&](const progress& p) {
        out = p;
        return p.schedules < schedules && !(p.applied == p.rules);
      },
      [](const violation& v) { ADD_FAILURE() << v.complaint; });
  return out;
}

TEST(sim_rules, that_are_printed_for_a_layout_are_those_that_it_is_judged_by) {
  const auto printed = printed_rules();
  for (const playable& l : all_playable()) {
    const progress p = played(l, 1000);
    const auto found = printed.find(row_of(l));
    ASSERT_NE(found, printed.end()) << row_of(l);
    EXPECT_EQ(found->second, p.rules.text()) << row_of(l);
    EXPECT_EQ(p.applied.text(), p.rules.text()) << row_of(l) << " after " << p.schedules;
  }
}

TEST(sim_rules, have_names_of_their_own) {
  std::map<std::string_view, int> seen;
  for (int i = 0; i < rules; ++i) EXPECT_EQ(seen[name_of(rule(i))]++, 0) << name_of(rule(i));
}

}  // namespace
}  // namespace holdfast::sim
