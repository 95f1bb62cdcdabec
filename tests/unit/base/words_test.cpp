#include "base/words.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(next_word, ends_at_the_separator_or_with_the_text) {
  std::string_view text = "a|b||c";
  EXPECT_EQ(next_word(text, '|'), "a");
  EXPECT_EQ(next_word(text, '|'), "b");
  EXPECT_EQ(next_word(text, '|'), "");
  EXPECT_EQ(text, "c");
  EXPECT_EQ(next_word(text, '|'), "c");
  EXPECT_EQ(next_word(text, '|'), "");
}

}  // namespace
}  // namespace holdfast::base
