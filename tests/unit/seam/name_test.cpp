#include "seam/name.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace {

using holdfast::seam::name_fault;
using holdfast::seam::note_fault;
using namespace std::string_literals;

TEST(name, may_be_any_text_of_1_to_512_bytes) {
  for (const std::string& name : {"a"s, "."s, ".."s, "/"s, "../../etc/passwd"s, "{tag}:x"s, " "s,
                                  "'); drop table"s, "gr\u00f6\u00dfe"s, "\u9396"s, "\U0001F512"s,
                                  "\u00a0"s, std::string(512, 'x'), "%41"s, "a\\b"s, "~"s})
    EXPECT_EQ(name_fault(name), "") << name;
}

TEST(name, must_not_be_empty_or_too_long) {
  EXPECT_NE(name_fault(""), "");
  EXPECT_NE(name_fault(std::string(513, 'x')), "");
}

TEST(name, must_not_have_control_characters) {
  for (const std::string& name :
       {"a\0b"s, "\n"s, "a\tb"s, "\x7f"s, "\x1b[2J"s, "\u0085"s, "x\u009f"s})
    EXPECT_NE(name_fault(name).find("control"), name_fault(name).npos);
}

TEST(name, must_be_well_formed_utf8) {
  for (const std::string& name : {"\xff"s, "\x80"s, "\xc0\xaf"s, "\xc1\xbf"s, "\xe0\x80\x80"s,
                                  "\xed\xa0\x80"s, "\xf0\x80\x80\x80"s, "\xf4\x90\x80\x80"s,
                                  "\xf5\x80\x80\x80"s, "a\xe2\x82"s, "\xc3"s, "\xe2\x28\xa1"s})
    EXPECT_NE(name_fault(name).find("UTF-8"), name_fault(name).npos);
  EXPECT_NE(name_fault(std::string_view("\u9396").substr(0, 2)), "") << "its last byte is cut off";
}

TEST(name, may_have_each_first_and_last_sequence_of_utf8) {
  for (const std::string& name :
       {"\xc2\xa0"s, "\xdf\xbf"s, "\xe0\xa0\x80"s, "\xe0\xbf\xbf"s, "\xe1\x80\x80"s,
        "\xec\xbf\xbf"s, "\xed\x80\x80"s, "\xed\x9f\xbf"s, "\xee\x80\x80"s, "\xef\xbf\xbf"s,
        "\xf0\x90\x80\x80"s, "\xf0\xbf\xbf\xbf"s, "\xf1\x80\x80\x80"s, "\xf3\xbf\xbf\xbf"s,
        "\xf4\x80\x80\x80"s, "\xf4\x8f\xbf\xbf"s})
    EXPECT_EQ(name_fault(name), "") << testing::PrintToString(name);
  for (const std::string& name :
       {"\xe0\x9f\xbf"s, "\xed\xa0\x80"s, "\xf0\x8f\xbf\xbf"s, "\xf4\x90\x80\x80"s, "\xc2\x7f"s,
        "\xc2\xc0"s, "\xdf\xc0"s, "\xe1\x7f\x80"s, "\xe1\xc0\x80"s, "\xe1\x80\x7f"s,
        "\xe1\x80\xc0"s, "\xf1\x80\x80\x7f"s, "\xf1\x80\x80\xc0"s})
    EXPECT_NE(name_fault(name).find("not UTF-8"), name_fault(name).npos)
        << testing::PrintToString(name);
  EXPECT_NE(name_fault("a\x1f").find("control"), name_fault("a\x1f").npos);
}

TEST(note, names_its_fault) {
  EXPECT_NE(note_fault("\xff").find("the note is not UTF-8"), std::string_view::npos);
  EXPECT_NE(note_fault("\n").find("the note contains a control"), std::string_view::npos);
  EXPECT_NE(note_fault(std::string(257, 'x')).find("256 bytes"), std::string_view::npos);
}

TEST(note, may_be_empty_and_has_at_most_256_bytes) {
  EXPECT_EQ(note_fault(""), "");
  EXPECT_EQ(note_fault(std::string(256, 'x')), "");
  EXPECT_NE(note_fault(std::string(257, 'x')), "");
  EXPECT_NE(note_fault("a\x1b[31m"), "");
}

}  // namespace
