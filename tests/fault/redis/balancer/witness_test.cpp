// The witness reports what cannot be, and nothing else.
#include "witness.hpp"

#include <gtest/gtest.h>

namespace holdfast::redis_test {
namespace {

using namespace std::chrono_literals;

instant at(int ms) { return instant(std::chrono::milliseconds(ms)); }

stay alone(int from, int to, std::int64_t token = 0) {
  return {.lock = "x", .token = token, .called = at(from - 1), .from = at(from), .to = at(to)};
}

stay one_of(unsigned capacity, unsigned weight, int from, int to) {
  stay s = alone(from, to);
  s.capacity = capacity;
  s.weight = weight;
  return s;
}

TEST(redis_witness, finds_no_overlap_where_one_follows_another) {
  EXPECT_TRUE(overlaps_in({alone(0, 10), alone(10, 20), alone(30, 40)}).empty());
  EXPECT_TRUE(overlaps_in({}).empty());
}

TEST(redis_witness, measures_from_the_first_to_the_last_whom_a_holder_may_meet) {
  const auto found = overlaps_in({alone(0, 100), alone(20, 30), alone(50, 60), alone(200, 300)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].from, at(20));
  EXPECT_EQ(found[0].length, 40ms);
}

TEST(redis_witness, counts_what_is_held_by_weight) {
  EXPECT_TRUE(overlaps_in({one_of(2, 1, 0, 50), one_of(2, 1, 10, 50)}).empty());
  const auto found = overlaps_in({one_of(2, 1, 0, 50), one_of(2, 1, 10, 50), one_of(2, 1, 20, 25)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].length, 5ms);
  EXPECT_EQ(overlaps_in({one_of(9, 1, 0, 50), one_of(9, 9, 10, 20)}).size(), 1u);
}

TEST(redis_witness, compares_the_tokens_of_those_that_were_granted_before_the_call) {
  EXPECT_TRUE(tokens_back_in({alone(0, 10, 1), alone(20, 30, 2)}).empty());
  EXPECT_EQ(tokens_back_in({alone(0, 10, 2), alone(20, 30, 2), alone(40, 50, 1)}).size(), 2u);
  stay waits = alone(20, 30, 1);
  waits.called = at(0);
  EXPECT_TRUE(tokens_back_in({alone(5, 10, 2), waits}).empty()) << "granted in any order";
}

TEST(redis_witness, refuses_a_write_below_the_largest_token) {
  guarded_counter counter;
  EXPECT_TRUE(counter.write(5));
  EXPECT_TRUE(counter.write(5));
  EXPECT_FALSE(counter.write(4));
  EXPECT_TRUE(counter.write(6));
}

}  // namespace
}  // namespace holdfast::redis_test
