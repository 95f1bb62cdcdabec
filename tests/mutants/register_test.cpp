#include <gtest/gtest.h>

#include <set>

#include "tests/mutants/killer.hpp"
#include "tests/mutants/register/lua_code.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "tests/sim/program/playable.hpp"
#endif

namespace holdfast::mutants {
namespace {

TEST(mutant_register, names_each_mutant_once_with_the_rule_that_it_breaks) {
  std::set<std::string> names;
  for (const mutant& m : all_mutants()) {
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_TRUE(m.rule.size() > 10 && m.rule.ends_with(')')) << m.name << ": " << m.rule;
    EXPECT_TRUE(m.point != base::mutant::none || !m.edits.empty() || m.fault != model_fault::none)
        << m.name << " is planted nowhere";
    EXPECT_EQ(mutant_named(m.name), &m);
  }
  EXPECT_EQ(mutant_named("none"), nullptr);
}

TEST(mutant_register, code_is_the_text_without_comments_and_line_breaks) {
  EXPECT_EQ(code_of("-- a comment\nlocal a = 1  -- b\n  return a\n"), "local a = 1 return a");
  EXPECT_EQ(code_of("x = '--  no comment' .. \"it's  \\\" none\"  -- one"),
            "x = '--  no comment' .. \"it's  \\\" none\"");
  EXPECT_EQ(code_of(""), "");
  EXPECT_THROW(code_of("--[[ long ]]"), std::invalid_argument);
  EXPECT_THROW(code_of("x = [[long]]"), std::invalid_argument);
}

#ifdef HOLDFAST_WITH_REDIS
std::string obstacle_of_edit(std::string_view script, std::string_view code) {
  return obstacle_to({"an_edit", "", base::mutant::none, {{script, code, ""}}});
}

TEST(mutant_register, an_edit_that_does_not_apply_is_named) {
  EXPECT_EQ(obstacle_of_edit("string/release", "if owner ~= id then"), "");
  EXPECT_EQ(obstacle_of_edit("string/release", "if owner == nobody then"),
            "an_edit: the code of string/release.lua has `if owner == nobody then` 0 times, not "
            "once");
  EXPECT_EQ(obstacle_of_edit("string/release", "redis.call"),
            "an_edit: the code of string/release.lua has `redis.call` " +
                std::to_string(count_of("redis.call", code_of(text_of_script("string/release")))) +
                " times, not once");
  EXPECT_EQ(obstacle_of_edit("string/nothing", "x"), "an_edit: there is no string/nothing.lua");
  EXPECT_THROW(plant({"an_edit", "", base::mutant::none, {{"string/release", "x y z", ""}}}),
               std::invalid_argument);
}

TEST(mutant_register, a_mutant_that_is_in_no_loaded_script_is_reported) {
  const mutant of_another_layout{"an_edit",
                                 "",
                                 base::mutant::none,
                                 {{"string/release", "if owner ~= id then", "if false then"}}};
  const auto lua = sim::playable_named("lua");
  plant(of_another_layout);
  EXPECT_NO_THROW(check_planted());  // nothing was loaded yet
  lua->play(lua->draw(1), nullptr, sim::recording::off);
  EXPECT_THROW(check_planted(), std::logic_error);
  remove_planted();
  EXPECT_NO_THROW(check_planted());
}

TEST(mutant_register, the_prose_of_a_comment_is_no_code) {
  EXPECT_NE(text_of_script("string/release").find("Releases the lock"), std::string::npos);
  EXPECT_NE(obstacle_of_edit("string/release", "Releases the lock"), "");
}
#endif

}  // namespace
}  // namespace holdfast::mutants
