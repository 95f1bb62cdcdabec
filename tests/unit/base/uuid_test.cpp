#include "base/uuid.hpp"

#include <gtest/gtest.h>

#include "testkit/manual_environment.hpp"

namespace holdfast::base {
namespace {

TEST(uuid, that_is_random_has_the_version_and_the_variant_and_random_bits_in_both_halves) {
  testkit::manual_environment env;
  std::uint64_t high = 0, low = 0;  // bits that differ between two
  uuid last = random_uuid(env);
  for (int i = 0; i < 200; ++i) {
    const uuid u = random_uuid(env);
    EXPECT_EQ(u.high >> 12 & 15, 4u);
    EXPECT_EQ(u.low >> 62, 2u);
    high |= u.high ^ last.high;
    low |= u.low ^ last.low;
    last = u;
  }
  EXPECT_EQ(high, ~0xf000ull);
  EXPECT_EQ(low, ~(3ull << 62));
}

TEST(uuid, is_shown_in_five_groups_of_lower_case_digits) {
  const uuid u{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(text_of(u), "01234567-89ab-cdef-fedc-ba9876543210");
  EXPECT_TRUE(u);
  EXPECT_TRUE((uuid{0, 1}));
  EXPECT_FALSE(uuid{});
}

TEST(uuid, is_recognised_at_the_beginning_of_a_text) {
  const std::string text = "01234567-89ab-cdef-fedc-ba9876543210";
  EXPECT_TRUE(begins_with_uuid(text));
  EXPECT_TRUE(begins_with_uuid(text + ":7"));
  EXPECT_FALSE(begins_with_uuid(text.substr(1)));
  for (const std::size_t i : {0u, 8u, 13u, 18u, 23u, 35u}) {
    std::string wrong = text;
    wrong[i] = 'X';
    EXPECT_FALSE(begins_with_uuid(wrong)) << i;
  }
}

}  // namespace
}  // namespace holdfast::base
