// The findings of a diagnosis of a directory: each line of it is made worse than good, where this
// user may.
#include <holdfast/holdfast.hpp>

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "tests/fault/file/fixture.hpp"
#include "tests/fault/file/small_disk.hpp"

namespace holdfast::file_test {
namespace {

using grade = finding_grade;
namespace fs = std::filesystem;

finding found(const client& c, std::string_view what) {
  for (finding& f : c.diagnose())
    if (f.what == what) return f;
  ADD_FAILURE() << "nothing of " << what;
  return {};
}

std::string url_of(const fs::path& at) { return "file://" + at.string(); }

TEST(file_examination, of_a_directory_that_was_replaced) {
  const lock_folder folder;
  const auto at = folder.file("locks");
  const auto c = client::open(url_of(at));
  EXPECT_EQ(found(c, "directory").grade, grade::good);
  fs::rename(at, folder.file("elsewhere"));
  EXPECT_EQ(found(c, "directory").grade, grade::bad);
}

// The two file systems number their files alike.
TEST(file_examination, of_a_directory_on_which_another_file_system_was_mounted) {
  const lock_folder folder;
  const auto at = folder.file("disk");
  const small_disk first(at);
  if (!first) GTEST_SKIP() << "skipped: only root may mount a file system";
  const auto c = client::open(url_of(at));
  const small_disk second(at);
  EXPECT_EQ(found(c, "directory").grade, grade::bad);
}

TEST(file_examination, of_a_directory_that_a_group_shares) {
  const lock_folder folder;
  const auto c =
      client::open(url_of(folder.file("locks")) + "?group=" + std::to_string(::getegid()));
  EXPECT_EQ(found(c, "directory").grade, grade::warn);
}

TEST(file_examination, of_a_directory_of_another_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may look at the locks of others";
  const lock_folder folder;
  const auto at = folder.file("locks");
  fs::create_directory(at);
  ASSERT_EQ(::chmod(at.c_str(), 0700), 0);
  ASSERT_EQ(::chown(at.c_str(), 12345, 12345), 0);
  const auto f = found(client::open(url_of(at)), "directory");
  EXPECT_EQ(f.grade, grade::bad);
  EXPECT_NE(f.why.find("12345"), f.why.npos) << f.why;
}

// Calls `examine` in a process with a /run and a /tmp of its own, because other tests examine the
// default directory.
std::string said_alone(const std::function<std::string()>& examine) {
  other_process alone([&](const other_process::line& l) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, "") != 0)
      return l.say("skipped: only root may have a /tmp of its own");
    const small_disk run("/run", "tmpfs", "mode=0755"), lock("/run/lock", "tmpfs", "mode=1777"),
        temporary("/tmp", "tmpfs", "mode=1777");
    if (!run || !lock || !temporary) return l.say("skipped: only root may have a /tmp of its own");
    l.say(examine());
  });
  return alone.hear();
}

std::string worst_of_directory(const client& c) {
  for (const finding& f : c.diagnose())
    if (f.what == "directory" && f.grade != grade::good) return f.why;
  return "good";
}

void create_former_default() {
  fs::create_directory("/tmp/holdfast-" + std::to_string(::geteuid()));
}

TEST(file_examination, of_another_directory_than_the_default_one_where_a_former_default_exists) {
  const std::string said = said_alone([] {
    create_former_default();
    return worst_of_directory(client::open("file:///tmp/locks"));
  });
  if (said.starts_with("skipped")) GTEST_SKIP() << said;
  EXPECT_EQ(said, "good");
}

TEST(file_examination, of_the_default_directory_warns_only_where_a_former_default_exists) {
  const std::string said = said_alone([] {
    std::string logged;  // nothing: this directory is expected to be new
    set_log_hook([](log_level, std::string_view line,
                    void* to) { static_cast<std::string*>(to)->append(line); },
                 &logged);
    const auto c = client::open("file:");
    const std::string before = worst_of_directory(c);
    create_former_default();
    return logged + before + ", " + worst_of_directory(c);
  });
  if (said.starts_with("skipped")) GTEST_SKIP() << said;
  EXPECT_EQ(said.find("good, /tmp/holdfast-"), 0u) << said;
  EXPECT_NE(said.find(" exists as well"), said.npos) << said;
}

TEST(file_examination, of_a_directory_above_that_others_may_write) {
  const lock_folder folder;
  const auto open = folder.file("open"), at = open / "locks";
  fs::create_directory(open);
  const auto c = client::open(url_of(at));
  ASSERT_EQ(::chmod(open.c_str(), 0755), 0);
  EXPECT_EQ(found(c, "path").grade, grade::good) << found(c, "path").why;
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  const auto f = found(c, "path");
  EXPECT_EQ(f.grade, grade::bad);
  EXPECT_NE(f.why.find(open.string() + " "), f.why.npos) << f.why;
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  EXPECT_EQ(found(c, "path").grade, grade::good) << "sticky: only the owner may rename it";
}

TEST(file_examination, of_a_small_file_system_that_holdfast_is_not_tried_on) {
  const lock_folder folder;
  const auto at = folder.file("disk");
  const small_disk disk(at, "ramfs", "mode=0700");
  if (!disk) GTEST_SKIP() << "skipped: only root may mount a file system";
  EXPECT_EQ(found(client::open(url_of(at)), "filesystem").grade, grade::warn);
}

TEST(file_examination, of_little_space_and_of_none) {
  const lock_folder folder;
  const auto at = folder.file("disk");
  small_disk disk(at);
  if (!disk) GTEST_SKIP() << "skipped: only root may mount a file system";
  const auto c = client::open(url_of(at));
  EXPECT_EQ(found(c, "filesystem").grade, grade::good);
  EXPECT_EQ(found(c, "space").grade, grade::warn);
  disk.fill();
  EXPECT_EQ(found(c, "space").grade, grade::bad);
}

TEST(file_examination, of_few_inodes) {
  const lock_folder folder;
  const auto at = folder.file("disk");
  const small_disk disk(at, "tmpfs", "nr_inodes=50,mode=0700");
  if (!disk) GTEST_SKIP() << "skipped: only root may mount a file system";
  EXPECT_EQ(found(client::open(url_of(at)), "space").grade, grade::warn);
}

TEST(memory_examination, finds_nothing_to_examine) {
  const auto all = client::open("memory:").diagnose();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].what, "store");
  EXPECT_EQ(all[0].grade, grade::good);
}

TEST(client_examination, of_no_store_fails_as_other_calls_do) {
  std::error_code code;
  EXPECT_TRUE(client().diagnose(code).empty());
  EXPECT_EQ(code, errc::closed);
  auto c = client::open("memory:");
  c.close();
  EXPECT_THROW((void)c.diagnose(), lock_error);
}

}  // namespace
}  // namespace holdfast::file_test
