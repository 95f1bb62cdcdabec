#include "base/number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace holdfast::base {
namespace {

TEST(whole_number, is_the_text_from_its_first_character_to_its_last) {
  EXPECT_EQ(whole_number<int>("-12"), -12);
  EXPECT_EQ(whole_number<std::uint64_t>("ff", 16), 255u);
  for (const char* const text : {"", "x", "1x", " 1", "1 ", "+1", "1.0"})
    EXPECT_EQ(whole_number<int>(text), std::nullopt) << text;
}

TEST(whole_number, is_none_of_a_type_that_cannot_have_it) {
  EXPECT_EQ(whole_number<std::uint8_t>("255"), 255);
  EXPECT_EQ(whole_number<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(whole_number<std::uint32_t>("-1"), std::nullopt);
}

TEST(leading_number, is_what_a_text_begins_with) {
  EXPECT_EQ(leading_number<int>("7.0.15"), 7);
  EXPECT_EQ(leading_number<std::int64_t>("-12|x"), -12);
  for (const std::string_view text : {"", "x1", " 1", "99999999999"})
    EXPECT_EQ(leading_number<int>(text), 0) << text;
}

}  // namespace
}  // namespace holdfast::base
