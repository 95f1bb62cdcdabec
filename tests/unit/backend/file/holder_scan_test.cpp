// The inspection of holders that have no record; tests/fault/file covers those that have one.
#include "backend/file/holder_scan.hpp"

#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

using a_file_scan = a_lock_folder;

TEST_F(a_file_scan, finds_each_joint_holder_whose_record_cannot_be_read) {
  const other_description one(path("x.lock")), other(path("x.lock"));
  ASSERT_TRUE(holder_bytes(one.get()).take({0, 1}));
  ASSERT_TRUE(holder_bytes(other.get()).take({5, 2}));
  base::failure why;
  const auto found = find_holders(all, "x", {}, why);
  EXPECT_FALSE(why.code) << why.text;
  EXPECT_EQ(found.size(), 2u);
}

}  // namespace
}  // namespace holdfast::file
