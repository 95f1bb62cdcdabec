#include "backend/memory/protocol.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::memory {
namespace {

TEST(memory_protocol, an_owner_id_is_read_as_it_is_shown) {
  const owner_id id{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(text_of(id), "0123456789abcdeffedcba9876543210");
  EXPECT_EQ(owner_id_of(text_of(id)), id);
  EXPECT_EQ(owner_id_of(text_of({})), owner_id{});
}

TEST(memory_protocol, other_texts_are_no_owner_id) {
  const std::string text = text_of(owner_id{1, 2});
  for (const std::string& wrong :
       {std::string(), std::string("1"), text.substr(1), text + '0', 'x' + text.substr(1),
        text.substr(1) + 'x', text.substr(0, 15) + "x" + text.substr(16)})
    EXPECT_FALSE(owner_id_of(wrong)) << wrong;
}

TEST(memory_protocol, a_holder_is_an_owner_or_a_group_of_readers) {
  const owner_id id{1, 2};
  EXPECT_EQ(holder_seen_of(text_of(id)).who, id);
  EXPECT_EQ(holder_seen_of(text_of(id)).group, 0);
  EXPECT_EQ(holder_seen_of(group_text_of(7)).group, 7);
  EXPECT_EQ(holder_seen_of(group_text_of(7)).who, owner_id{});
  for (const char* const wrong : {"", "g", "g0", "g-1", "g7x", "h7"}) {
    EXPECT_EQ(holder_seen_of(wrong).group, 0) << wrong;
    EXPECT_EQ(holder_seen_of(wrong).who, owner_id{}) << wrong;
  }
}

}  // namespace
}  // namespace holdfast::memory
