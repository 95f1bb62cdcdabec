// The file by which a holder sees that others wait.
#include "backend/file/waiters_file.hpp"

#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

class file_waiters : public a_lock_folder {
 protected:
  using outcome = waiters_file::outcome;
  void delete_file() const { std::filesystem::remove(path("x.waiters")); }

  waiters_file waiter{all.place, "x.waiters"}, holder{all.place, "x.waiters"};
};

TEST_F(file_waiters, are_seen_from_their_announcement_to_their_withdrawal) {
  EXPECT_FALSE(holder.others_wait());
  EXPECT_EQ(waiter.announce(), outcome::done);
  EXPECT_TRUE(holder.others_wait());
  waiter.withdraw();
  EXPECT_FALSE(holder.others_wait());
  EXPECT_TRUE(waiter.announce_at_once());
  EXPECT_TRUE(holder.others_wait());
  waiter.withdraw();
  EXPECT_FALSE(holder.others_wait());
  EXPECT_EQ(holder.await_none(), outcome::done);
  EXPECT_TRUE(waiter.announce_at_once()) << "nothing stays locked";
}

TEST_F(file_waiters, are_seen_by_each_other) {
  EXPECT_EQ(waiter.announce(), outcome::done);
  EXPECT_EQ(holder.announce(), outcome::done) << "several may wait";
  EXPECT_TRUE(holder.others_wait());
}

TEST_F(file_waiters, are_not_announced_at_once_while_a_holder_checks) {
  const other_description checking(path("x.waiters"));
  ASSERT_TRUE(checking.try_lock(LOCK_EX));
  EXPECT_FALSE(waiter.announce_at_once());
}

TEST_F(file_waiters, are_seen_in_the_file_that_replaced_a_deleted_one) {
  for (waiters_file* const deleted_under : {&waiter, &holder}) {
    EXPECT_FALSE(deleted_under->others_wait());
    delete_file();
    EXPECT_EQ(waiter.announce(), outcome::done);
    EXPECT_TRUE(holder.others_wait());
    waiter.withdraw();
    EXPECT_FALSE(holder.others_wait());
  }
}

TEST_F(file_waiters, are_not_announced_at_once_in_a_deleted_file) {
  ASSERT_TRUE(waiter.announce_at_once());
  waiter.withdraw();
  delete_file();
  EXPECT_FALSE(waiter.announce_at_once());
  EXPECT_TRUE(waiter.announce_at_once()) << "the next announcement makes a new file";
  EXPECT_TRUE(holder.others_wait());
}

TEST_F(file_waiters, are_assumed_where_their_file_cannot_be_opened) {
  std::filesystem::create_directory(path("x.waiters"));
  EXPECT_TRUE(holder.others_wait());
  EXPECT_FALSE(waiter.announce_at_once());
  EXPECT_EQ(waiter.announce(), outcome::failed);
  EXPECT_EQ(holder.await_none(), outcome::failed);
}

}  // namespace
}  // namespace holdfast::file
