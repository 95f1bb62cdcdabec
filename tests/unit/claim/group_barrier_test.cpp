#include "claim/group_barrier.hpp"

#include <gtest/gtest.h>

namespace holdfast::claims {
namespace {

struct asker {};

class barrier : public testing::Test {
 protected:
  claim_group<asker>* join(asker& who) { return all.join(three, who); }

  const seam::lock_group three = seam::lock_group::of(3);
  group_barrier<claim_group<asker>> all;
  asker a, b, c;
};

TEST_F(barrier, the_last_that_comes_sends_for_all) {
  EXPECT_FALSE(join(a));
  EXPECT_FALSE(join(b));
  EXPECT_FALSE(all.join(seam::lock_group::of(3), c)) << "of another group";
  const auto* const whole = join(c);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->members, (std::vector{&a, &b, &c}));
}

TEST_F(barrier, a_claim_joins_once) {
  EXPECT_FALSE(join(a));
  EXPECT_FALSE(join(a));
  EXPECT_FALSE(join(b));
  EXPECT_FALSE(join(a));
  EXPECT_TRUE(join(c));
}

TEST_F(barrier, only_the_first_repeats) {
  join(a);
  join(b);
  join(c);
  EXPECT_FALSE(join(b));
  EXPECT_FALSE(join(c));
  EXPECT_TRUE(join(a));
}

TEST_F(barrier, a_group_that_a_member_has_left_is_broken_and_the_others_wait_on) {
  join(a);
  join(b);
  auto* const whole = join(c);
  ASSERT_TRUE(whole && !whole->is_broken);
  all.leave(three, b);
  EXPECT_TRUE(whole->is_broken);
  EXPECT_FALSE(join(a));
  EXPECT_EQ(join(b), whole) << "it is whole again";
  EXPECT_EQ(whole->members, (std::vector{&a, &c, &b}));
}

TEST_F(barrier, a_claim_that_never_joined_breaks_no_group_and_repairs_none) {
  asker stranger;
  join(a);
  join(b);
  auto* const whole = join(c);
  ASSERT_TRUE(whole);
  all.leave(three, stranger);
  EXPECT_FALSE(whole->is_broken);
  all.leave(three, b);
  all.leave(three, stranger);
  EXPECT_TRUE(whole->is_broken);
}

TEST_F(barrier, one_that_all_have_left_or_that_was_sent_begins_anew) {
  join(a);
  all.leave(three, a);
  EXPECT_FALSE(join(b));
  EXPECT_FALSE(join(c));
  all.dissolve(*join(a));
  EXPECT_FALSE(join(a));
  all.leave(three, b);
}

}  // namespace
}  // namespace holdfast::claims
