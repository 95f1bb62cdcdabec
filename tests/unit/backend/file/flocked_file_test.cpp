// A file that is locked for a moment.
#include "backend/file/flocked_file.hpp"

#include <memory>

#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

class a_flocked_file : public a_lock_folder {
 protected:
  const other_description other{path("x.lock")};
  std::unique_ptr<flocked_file> file =
      std::make_unique<flocked_file>(all.place.open_existing("x.lock"));
};

TEST_F(a_flocked_file, is_not_locked_beside_another_lock) {
  ASSERT_TRUE(other.try_lock(LOCK_SH));
  EXPECT_FALSE(file->try_exclusive());
  ASSERT_TRUE(other.try_lock(LOCK_UN));
  EXPECT_TRUE(file->try_exclusive());
  EXPECT_FALSE(other.try_lock(LOCK_SH));
}

TEST_F(a_flocked_file, is_unlocked_at_its_end_though_a_child_has_a_copy_of_its_descriptor) {
  ASSERT_TRUE(file->try_exclusive());
  const int copy = ::dup(file->get());
  ASSERT_GE(copy, 0);
  file.reset();
  EXPECT_TRUE(other.try_lock(LOCK_EX));
  ::close(copy);
}

TEST_F(a_flocked_file, is_named_by_its_one_name_only) {
  EXPECT_TRUE(file->is_named(all.place, "x.lock"));
  EXPECT_FALSE(file->is_named(all.place, "y.lock"));
  put("y.lock", "");
  EXPECT_FALSE(file->is_named(all.place, "y.lock"));
  std::filesystem::remove(path("y.lock"));
  std::filesystem::create_hard_link(path("x.lock"), path("y.lock"));
  EXPECT_FALSE(file->is_named(all.place, "x.lock")) << "it has two names";
  std::filesystem::remove(path("y.lock"));
  EXPECT_TRUE(file->is_named(all.place, "x.lock"));
  std::filesystem::rename(path("x.lock"), path("y.lock"));
  std::filesystem::create_symlink("y.lock", path("x.lock"));
  EXPECT_FALSE(file->is_named(all.place, "x.lock")) << "a link is another file";
}

}  // namespace
}  // namespace holdfast::file
