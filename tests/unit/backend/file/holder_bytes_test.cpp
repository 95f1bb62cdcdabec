// The byte locks by which joint holders are seen.
#include "backend/file/holder_bytes.hpp"

#include "tests/unit/backend/file/before_call.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

class file_holder_bytes : public a_lock_folder {
 protected:
  using outcome = holder_bytes::outcome;
  using range = holder_bytes::range;

  static void expect_range(const range& seen, std::uint32_t first, std::uint32_t count) {
    EXPECT_EQ(seen.first, first);
    EXPECT_EQ(seen.count, count);
  }

  const other_description own{path("x.lock")}, other{path("x.lock")}, third{path("x.lock")};
  holder_bytes mine{own.get()}, others{other.get()}, thirds{third.get()};
};

TEST_F(file_holder_bytes, of_others_are_found_in_order) {
  ASSERT_TRUE(others.take({7, 1}));
  ASSERT_TRUE(thirds.take({2, 3}));
  expect_range(mine.next_taken(0), 2, 3);
  expect_range(mine.next_taken(3), 3, 2);
  expect_range(mine.next_taken(5), 7, 1);
  EXPECT_FALSE(mine.next_taken(8));
  expect_range(thirds.next_taken(0), 7, 1);
}

TEST_F(file_holder_bytes, have_one_holder_until_it_leaves) {
  ASSERT_TRUE(others.take({2, 3}));
  EXPECT_FALSE(mine.take({4, 2}));
  EXPECT_TRUE(mine.take({5, 2}));
  others.leave();
  EXPECT_TRUE(mine.take({2, 3}));
}

TEST_F(file_holder_bytes, have_a_guard_for_one_at_a_time) {
  ASSERT_EQ(others.take_guard(), outcome::done);
  EXPECT_EQ(mine.take_guard(), outcome::busy);
  others.leave_guard();
  EXPECT_EQ(mine.take_guard(), outcome::done);
  mine.leave();
  EXPECT_EQ(others.await_guard(), outcome::done);
}

TEST_F(file_holder_bytes, have_a_guard_that_is_tried_again_while_another_claim_has_it_briefly) {
  ASSERT_EQ(others.take_guard(), outcome::done);
  const before_call leaving(system_call::sched_yield, [this] { others.leave_guard(); });
  EXPECT_EQ(mine.take_guard(), outcome::done);
}

TEST_F(file_holder_bytes, have_a_queue_that_others_see) {
  EXPECT_FALSE(mine.has_queue());
  ASSERT_EQ(others.await_queue(), outcome::done);
  EXPECT_TRUE(mine.has_queue());
  EXPECT_FALSE(others.has_queue()) << "its own";
  others.leave();
  EXPECT_TRUE(mine.has_queue()) << "it is no holder's byte";
  others.leave_queue();
  EXPECT_FALSE(mine.has_queue());
}

TEST_F(file_holder_bytes, show_the_waiters_that_are_announced) {
  EXPECT_FALSE(mine.has_announced());
  ASSERT_TRUE(others.announce());
  ASSERT_TRUE(thirds.announce()) << "several may wait";
  EXPECT_TRUE(mine.has_announced());
  others.withdraw();
  EXPECT_TRUE(mine.has_announced());
  thirds.withdraw();
  EXPECT_FALSE(mine.has_announced());
}

TEST_F(file_holder_bytes, are_used_while_another_holds_enters_or_waits) {
  EXPECT_FALSE(mine.are_used());
  ASSERT_TRUE(others.take({permits_max - 1, 1}));
  EXPECT_TRUE(mine.are_used());
  others.leave();
  ASSERT_EQ(others.take_guard(), outcome::done);
  EXPECT_TRUE(mine.are_used());
  others.leave_guard();
  ASSERT_EQ(others.await_queue(), outcome::done);
  EXPECT_TRUE(mine.are_used());
  others.leave_queue();
  ASSERT_TRUE(others.announce());
  EXPECT_TRUE(mine.are_used());
  EXPECT_FALSE(others.are_used()) << "its own";
  others.withdraw();
  EXPECT_FALSE(mine.are_used());
}

TEST_F(file_holder_bytes, of_no_file_are_a_failure) {
  holder_bytes none(-1);
  EXPECT_EQ(none.take_guard(), outcome::failed);
  EXPECT_FALSE(none.take({0, 1}));
  EXPECT_FALSE(none.announce());
}

}  // namespace
}  // namespace holdfast::file
