#include "base/ring.hpp"

#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

TEST(ring, gives_back_in_order_while_it_grows_and_wraps) {
  ring<int> r;
  EXPECT_TRUE(r.empty());
  int in = 0, out = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 7 + round; ++i) r.push_back(in++);
    for (int i = 0; i < 5 + round; ++i) {
      ASSERT_EQ(r.front(), out++);
      r.pop_front();
    }
    ASSERT_EQ(r.size(), static_cast<std::size_t>(in - out));
  }
  for (; !r.empty(); r.pop_front()) ASSERT_EQ(r.front(), out++);
  EXPECT_EQ(out, in);
}

TEST(ring, swaps_and_is_cleared) {
  ring<int> a, b;
  for (int i = 0; i < 20; ++i) a.push_back(i);
  a.swap(b);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(b.size(), 20u);
  EXPECT_EQ(b.front(), 0);
  b.clear();
  EXPECT_TRUE(b.empty());
  b.push_back(3);
  EXPECT_EQ(b.front(), 3);
}

}  // namespace
}  // namespace holdfast::base
