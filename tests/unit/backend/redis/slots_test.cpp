#include "backend/redis/slots.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::redis {
namespace {

// As CLUSTER KEYSLOT answers.
TEST(redis_slots, are_those_of_the_servers) {
  EXPECT_EQ(slot_of("123456789"), 12739);  // the specification's example: 31C3 hex
  EXPECT_EQ(slot_of("x"), 16287);
  EXPECT_EQ(slot_of("holdfast:n"), 5341);
  EXPECT_EQ(slot_of(""), 0);
}

TEST(redis_slots, of_a_key_with_braces_only_the_part_in_the_first_ones_counts) {
  EXPECT_EQ(slot_of("{x}:lines"), slot_of("x"));
  EXPECT_EQ(slot_of("a{x}b{y}"), slot_of("x"));
  EXPECT_EQ(slot_of("a{{x}}b"), slot_of("{x"));
  for (const std::string whole : {"{}x", "foo{}{bar}", "{x", "x}", "}{"})
    EXPECT_EQ(slot_of("{k}" + whole), slot_of("k")) << whole;
  EXPECT_NE(slot_of("{}x"), slot_of("x"));
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
}

TEST(redis_slots, each_has_a_tag_of_its_own) {
  for (std::size_t i = 0; i < slot_count; ++i) {
    const auto slot = static_cast<slot_number>(i);
    ASSERT_EQ(slot_of(tag_of_slot(slot)), slot);
    ASSERT_EQ(slot_of("holdfast:{" + std::string(tag_of_slot(slot)) + "}:n"), slot);
  }
}

TEST(redis_slots, a_name_whose_keys_would_lie_apart_is_refused) {
  for (const char* name : {"x", "{x}", "{x}y", "a{x}b}", "a{b", "{"})
    EXPECT_EQ(fault_in_cluster(name), "") << name;
  for (const char* name : {"}", "a}b", "{}", "{}a"}) EXPECT_NE(fault_in_cluster(name), "") << name;
}

}  // namespace
}  // namespace holdfast::redis
