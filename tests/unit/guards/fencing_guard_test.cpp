#include <gtest/gtest.h>
#include <holdfast/holdfast.hpp>

namespace holdfast {
namespace {

TEST(fencing_guard, admits_growing_tokens_and_refuses_smaller_ones) {
  fencing_guard guard;
  EXPECT_TRUE(guard.admit(1024, "a"));
  EXPECT_TRUE(guard.admit(2048, "b"));
  EXPECT_FALSE(guard.admit(1024, "a"));
  EXPECT_FALSE(guard.admit(2047, "b"));
  EXPECT_EQ(guard.last(), 2048);
}

TEST(fencing_guard, admits_the_same_token_again_from_its_owner_only) {
  fencing_guard guard;
  EXPECT_TRUE(guard.admit(1024, "a"));
  EXPECT_TRUE(guard.admit(1024, "a"));
  EXPECT_FALSE(guard.admit(1024, "b")) << "after a split brain two owners can carry one token";
}

TEST(fencing_guard, refuses_what_no_lease_gave) {
  fencing_guard guard;
  EXPECT_FALSE(guard.admit(lease()));
  EXPECT_FALSE(guard.admit(0, ""));
  EXPECT_FALSE(guard.admit(-1, "a"));
}

TEST(fencing_guard, exact_admits_the_expected_owner_and_no_other) {
  fencing_guard guard(fencing::exact);
  EXPECT_FALSE(guard.admit(1, "a"));
  EXPECT_FALSE(guard.admit(1, "")) << "no owner is expected yet";
  guard.set("a");
  EXPECT_TRUE(guard.admit(7, "a"));
  EXPECT_TRUE(guard.admit(3, "a")) << "tokens play no part";
  guard.set("b");
  EXPECT_FALSE(guard.admit(9, "a"));
  guard.set("a");  // what exact does not catch: an old holder's set that comes late
  EXPECT_TRUE(guard.admit(3, "a"));
}

#ifdef HOLDFAST_WITH_MEMORY
TEST(fencing_guard, distinguishes_the_turns_of_a_lock) {
  memory_store store("guard-test");
  const auto one = client::open(store.url()), other = client::open(store.url());
  fencing_guard guard;
  auto old = one.mutex("job").acquire();
  EXPECT_FALSE(old.owner().empty());
  EXPECT_EQ(one.list("job").at(0).owner, old.owner());
  EXPECT_TRUE(guard.admit(old));
  const auto token = old.token();
  const auto owner = old.owner();
  old.release();
  EXPECT_TRUE(old.owner().empty());
  const auto next = other.mutex("job").acquire();
  EXPECT_NE(next.owner(), owner);
  EXPECT_TRUE(guard.admit(next));
  EXPECT_FALSE(guard.admit(token, owner));
}
#endif

TEST(redis_guard, writes_a_token_as_nineteen_digits) {
  EXPECT_EQ(redis_guard::text_of(1024), "0000000000000001024");
  EXPECT_EQ(redis_guard::text_of(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

}  // namespace
}  // namespace holdfast
