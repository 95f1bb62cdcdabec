#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::zookeeper::layout_tests {
namespace {

TEST(zookeeper_node_sequence, is_written_as_the_server_writes_it) {
  constexpr auto min = std::numeric_limits<std::int32_t>::min();
  constexpr auto max = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(text_of_sequence(0), "0000000000");
  EXPECT_EQ(text_of_sequence(17), "0000000017");
  EXPECT_EQ(text_of_sequence(max), "2147483647");
  EXPECT_EQ(text_of_sequence(-1), "-000000001");
  EXPECT_EQ(text_of_sequence(min), "-2147483648");
  for (const std::int32_t i : {0, 1, 999999999, max, -1, -999999999, min})
    EXPECT_EQ(read_sequence(text_of_sequence(i)), i);
}

TEST(zookeeper_node_sequence, nothing_else_is_read) {
  for (const char* text : {"", "1", "000000001", "00000000001", "+000000001", "2147483648",
                           "-0000000000", "000000000x", "0000000001 "})
    EXPECT_FALSE(read_sequence(text)) << text;
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
