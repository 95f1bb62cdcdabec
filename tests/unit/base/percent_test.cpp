#include "base/percent.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace holdfast::base {
namespace {

TEST(percent_encoding, leaves_letters_digits_and_four_marks_as_they_are) {
  EXPECT_EQ(percent_encode("azAZ09-._~"), "azAZ09-._~");
  EXPECT_EQ(percent_encode("@[`{/:"), "%40%5B%60%7B%2F%3A") << "the neighbours of the ranges";
  EXPECT_EQ(percent_encode("\xaf\x01"), "%AF%01");
  EXPECT_EQ(percent_encode("/a b", "/"), "/a%20b");
  EXPECT_EQ(percent_encode(std::string_view("\0\xff", 2)), "%00%FF");
}

TEST(percent_encoding, reads_small_and_capital_digits) {
  EXPECT_EQ(percent_decode("%af%AF%09%90x%41"), std::string("\xaf\xaf\t\x90xA"));
  EXPECT_EQ(percent_decode(""), "");
}

TEST(percent_encoding, an_incomplete_or_wrong_code_is_none) {
  for (const char* const text : {"%", "%4", "a%4", "%g0", "%0g", "%G0", "%0G", "%/0", "%0/", "%:0",
                                 "%0:", "%@0", "%0@", "%`0", "%0`"})
    EXPECT_FALSE(percent_decode(text)) << text;
  EXPECT_FALSE(percent_decode(std::string_view("%41", 2))) << "it ends before the second digit";
}

}  // namespace
}  // namespace holdfast::base
