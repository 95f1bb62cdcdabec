// The notices for waiters for permits.
#include "backend/file/release_notice.hpp"

#include <sys/ioctl.h>

#include <fstream>
#include <memory>

#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

class file_release_notice : public a_lock_folder {
 protected:
  // The watched files, as the kernel lists them for each descriptor.
  static int watched_files() {
    int count = 0;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
      std::ifstream info(one.path());
      for (std::string line; std::getline(info, line);) count += line.starts_with("inotify wd:");
    }
    return count;
  }
  // Bytes of notices that no waiter has read.
  static int unread() {
    int all = 0;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (!std::filesystem::read_symlink(one.path(), gone).string().ends_with("inotify")) continue;
      int bytes = 0;
      EXPECT_EQ(::ioctl(std::stoi(one.path().filename()), FIONREAD, &bytes), 0);
      all += bytes;
    }
    return all;
  }

  const other_description x{path("x.lock")}, y{path("y.lock")};
  release_notice one{all.notices}, other{all.notices};
};

TEST_F(file_release_notice, watches_its_file_while_it_listens) {
  const int before = watched_files();
  one.listen(x.get());
  one.listen(x.get());
  EXPECT_EQ(watched_files(), before + 1);
  one.stop_listening();
  one.stop_listening();
  EXPECT_EQ(watched_files(), before);
}

TEST_F(file_release_notice, is_read_by_the_waiter_that_it_wakes) {
  one.listen(x.get());
  const int before = unread();
  release_notice::notify(y.get());
  EXPECT_EQ(unread(), before) << "of another file";
  release_notice::notify(x.get());
  EXPECT_GT(unread(), before);
  one.wait();
  EXPECT_EQ(unread(), before);
}

TEST_F(file_release_notice, of_an_earlier_waiter_is_not_kept_for_the_next_one) {
  one.listen(x.get());
  const int before = unread();
  release_notice::notify(x.get());
  one.stop_listening();
  other.listen(y.get());
  EXPECT_EQ(unread(), before);
}

TEST_F(file_release_notice, keeps_a_few_descriptors_for_later_waiters) {
  one.listen(x.get());
  const auto with_one = all.files.open_count();
  one.stop_listening();
  EXPECT_EQ(all.files.open_count(), with_one);
  other.listen(y.get());
  EXPECT_EQ(all.files.open_count(), with_one);
  std::vector<std::unique_ptr<release_notice>> many;
  for (int i = 0; i < 20; ++i) {
    many.push_back(std::make_unique<release_notice>(all.notices));
    many.back()->listen(x.get());
  }
  EXPECT_EQ(all.files.open_count(), with_one + 20);
  for (const auto& n : many) n->stop_listening();
  EXPECT_LT(all.files.open_count(), with_one + 10);
}

TEST_F(file_release_notice, that_cannot_watch_its_file_keeps_no_descriptor_busy) {
  const auto before = all.files.open_count();
  one.listen(-1);
  EXPECT_EQ(all.files.open_count(), before + 1) << "it is kept for a later waiter";
  other.listen(x.get());
  EXPECT_EQ(all.files.open_count(), before + 1);
}

}  // namespace
}  // namespace holdfast::file
