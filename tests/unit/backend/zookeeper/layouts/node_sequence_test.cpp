#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::zookeeper::layout_tests {
namespace {

using limits = std::numeric_limits<std::int32_t>;

TEST(zookeeper_node_sequence, is_written_as_the_server_writes_it) {
  EXPECT_EQ(text_of_sequence(0), "0000000000");
  EXPECT_EQ(text_of_sequence(17), "0000000017");
  EXPECT_EQ(text_of_sequence(limits::max()), "2147483647");
  EXPECT_EQ(text_of_sequence(limits::min()), "-2147483648");
  EXPECT_EQ(text_of_sequence(-5), "-000000005");
}

TEST(zookeeper_node_sequence, is_read_behind_the_beginning_of_a_name) {
  for (const std::int32_t i : {0, 1, 1000000000, limits::max(), limits::min(), -5}) {
    EXPECT_EQ(read_sequence(text_of_sequence(i), ""), i);
    EXPECT_EQ(read_sequence("_c_1-lock-" + text_of_sequence(i), "_c_1-lock-"), i);
  }
  for (const char* name : {"", "lock-", "lock-1", "lock-000000001", "lock-2147483648",
                           "lock-+000000001", "lock-00000000 1", "lock-0000000001x", "0000000001"})
    EXPECT_FALSE(read_sequence(name, "lock-")) << name;
}

TEST(zookeeper_node_sequence, is_in_order_until_ten_thousand_before_the_limit) {
  for (const std::int32_t i : {0, 1, 2'147'473'646}) EXPECT_TRUE(is_in_order(i)) << i;
  for (const std::int32_t i : {2'147'473'647, limits::max(), limits::min(), -1})
    EXPECT_FALSE(is_in_order(i)) << i;
  EXPECT_FALSE(is_in_order({}));
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
