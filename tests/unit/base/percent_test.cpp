#include "base/percent.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(percent, leaves_the_unreserved_characters_and_those_named) {
  const std::string plain = "azAZ09-._~";
  EXPECT_EQ(percent_encode(plain), plain);
  EXPECT_EQ(percent_encode("`{@[/:"), "%60%7B%40%5B%2F%3A");
  EXPECT_EQ(percent_encode("a/b:c", "/"), "a/b%3Ac");
  EXPECT_EQ(percent_encode(std::string_view("\0\xff", 2)), "%00%FF");
}

TEST(percent, is_read_in_either_case) {
  EXPECT_EQ(percent_decode("%2f%2F%aF%00").value(), std::string("//\xaf\0", 4));
  EXPECT_EQ(percent_decode("a%41").value(), "aA");
  EXPECT_EQ(percent_decode("%09").value(), "\t");
  EXPECT_EQ(percent_decode("").value(), "");
}

TEST(percent, without_two_digits_is_refused) {
  for (const char* const text :
       {"%", "%4", "a%", "a%4", "%g0", "%0g", "%G0", "%:0", "%/0", "%@0", "%`0"})
    EXPECT_FALSE(percent_decode(text)) << text;
  EXPECT_FALSE(percent_decode(std::string_view("%41", 2))) << "it ends before the second digit";
}

}  // namespace
}  // namespace holdfast::base
