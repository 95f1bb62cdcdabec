// The number below which no new lock file of a directory starts.
#include "backend/file/directory_floor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "backend/file/record.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::file {
namespace {

class file_directory_floor : public ::testing::Test {
 protected:
  bool raise(std::int64_t number) { return floor.raise(number, "here", {}); }

  const testkit::scratch_folder folder;
  descriptor_table descriptors;
  directory place{descriptors, url::parse("file:"), folder.path().string(), {}};
  directory_floor floor{place};
};

TEST_F(file_directory_floor, is_zero_where_nothing_was_removed) { EXPECT_EQ(floor.read(), 0); }

TEST_F(file_directory_floor, only_grows) {
  EXPECT_TRUE(raise(7));
  EXPECT_EQ(floor.read(), 7);
  EXPECT_TRUE(raise(6));
  EXPECT_EQ(floor.read(), 7);
  EXPECT_TRUE(raise(8));
  EXPECT_EQ(floor.read(), 8);
}

// Two that write at a time could leave the smaller number.
TEST_F(file_directory_floor, is_not_raised_while_another_process_has_its_file_locked) {
  ASSERT_TRUE(raise(7));
  const int other = ::open(folder.file(".floor").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_FALSE(raise(8));
  EXPECT_EQ(floor.read(), 7);
  ::close(other);
  EXPECT_TRUE(raise(8));
}

TEST_F(file_directory_floor, is_not_raised_in_a_file_that_has_another_name) {
  ASSERT_TRUE(raise(7));
  std::filesystem::create_hard_link(folder.file(".floor"), folder.file("other"));
  EXPECT_FALSE(raise(8));
  EXPECT_EQ(floor.read(), 7);
}

TEST_F(file_directory_floor, that_is_the_record_of_a_lock_is_neither_read_nor_raised) {
  record_text lock;
  lock.describe("x", "here", {}, 1, 2);
  lock.stamp(7, {});
  folder.write(".floor", {lock.bytes().begin(), lock.bytes().end()});
  EXPECT_EQ(floor.read(), std::nullopt);
  EXPECT_FALSE(raise(8));
}

TEST_F(file_directory_floor, that_is_no_record_is_neither_read_nor_raised) {
  folder.write(".floor", "garbage");
  EXPECT_EQ(floor.read(), std::nullopt);
  EXPECT_EQ(errno, 0);
  EXPECT_FALSE(raise(8));
  EXPECT_EQ(floor.read(), std::nullopt);
}

}  // namespace
}  // namespace holdfast::file
