#include "backend/zookeeper/layouts/node_sequence.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace holdfast::zookeeper::layout_tests {
namespace {

constexpr std::int32_t max = std::numeric_limits<std::int32_t>::max();

TEST(zookeeper_node_sequence, is_written_as_the_server_writes_it) {
  EXPECT_EQ(text_of_sequence(0), "0000000000");
  EXPECT_EQ(text_of_sequence(17), "0000000017");
  EXPECT_EQ(text_of_sequence(max), "2147483647");
}

TEST(zookeeper_node_sequence, is_read_from_the_end_of_a_name) {
  for (const std::int32_t i : {0, 1, 1000000000, max}) {
    EXPECT_EQ(read_sequence(text_of_sequence(i)), i);
    EXPECT_EQ(read_sequence("/x/_c_1-lock-" + text_of_sequence(i)), i);
  }
  for (const char* name : {"", "1", "000000001", "lock-000000001", "lock-2147483648",
                           "lock--000000001", "lock-+000000001", "lock-00000000 1"})
    EXPECT_FALSE(read_sequence(name)) << name;
}

}  // namespace
}  // namespace holdfast::zookeeper::layout_tests
