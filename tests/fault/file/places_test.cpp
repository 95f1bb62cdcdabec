// Directories and files that are not as they should be: each a clear error, and nothing lost.
#include <holdfast/holdfast.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "testkit/manual_environment.hpp"
#include "tests/fault/file/fixture.hpp"
#include "tests/fault/file/small_disk.hpp"

namespace holdfast::file_test {
namespace {

using kind = answer::kind;
namespace fs = std::filesystem;

bool says(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST(file_places, a_full_disk_refuses_and_loses_nothing) {
  const lock_folder folder;
  small_disk disk(folder.file("disk"));
  if (!disk) GTEST_SKIP() << "skipped: only root may mount a small file system";
  const auto store = open_backend("file://" + folder.file("disk").string());
  contender old(*store, "old"), fresh(*store, "fresh");
  const std::int64_t first = old.hold();
  old.let_go();
  disk.fill();
  const answer a = fresh.try_once();
  ASSERT_EQ(a.what, kind::refused);
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_TRUE(says(a.why.text, "fresh.lock") && says(a.why.text, "free some space")) << a.why.text;
  EXPECT_GT(old.hold(), first);  // its file has its room already
  old.let_go();
  disk.make_room();
  EXPECT_GT(fresh.hold(), 0);
  fresh.let_go();
  store->close(base::never);
}

// The two file systems number their files alike.
TEST(file_places, a_file_that_was_mounted_over_that_of_a_lock_is_the_locks_from_then_on) {
  const lock_folder folder;
  const small_disk disk(folder.file("disk")), other(folder.file("other"));
  if (!disk || !other) GTEST_SKIP() << "skipped: only root may mount a small file system";
  testkit::manual_environment env;
  const auto store = open_backend("file://" + folder.file("disk").string(), env);
  contender early(*store, "x"), late(*store, "x");
  early.hold();
  early.let_go();
  const auto file = folder.file("disk") / "x.lock", over = folder.file("other") / "x.lock";
  fs::copy_file(file, over);
  ASSERT_EQ(::mount(over.c_str(), file.c_str(), nullptr, MS_BIND, nullptr), 0);
  late.hold();
  env.advance(std::chrono::milliseconds{10});
  EXPECT_EQ(early.try_once().what, kind::refused) << "it has the lock of the hidden file";
  late.let_go();
  ::umount2(file.c_str(), MNT_DETACH);
  store->close(base::never);
}

TEST(file_places, a_read_only_file_system_is_refused_when_it_is_opened) {
  const lock_folder folder;
  small_disk disk(folder.file("disk"));
  if (!disk) GTEST_SKIP() << "skipped: only root may mount a small file system";
  const auto before = open_backend("file://" + folder.file("disk").string());
  disk.make_read_only();
  const std::string why = error_of_opening("file://" + folder.file("disk").string(), errc::refused);
  EXPECT_TRUE(says(why, "Read-only file system") && says(why, "can be written")) << why;
  contender p(*before, "x");
  EXPECT_EQ(p.try_once().why.code, errc::refused);
  before->close(base::never);
}

TEST(file_places, a_directory_without_the_right_to_write_is_refused) {
  const lock_folder folder;
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may write everywhere";
  fs::permissions(folder.path(), fs::perms{0500});
  EXPECT_TRUE(says(error_of_opening(folder.url(), errc::refused), "Permission denied"));
  fs::permissions(folder.path(), fs::perms{0700});
}

TEST(file_places, a_directory_is_made_with_mode_0700_when_its_parent_exists) {
  const lock_folder folder;
  const std::string place = folder.path().string() + "/new";
  open_backend("file://" + place + "/");
  struct stat st;
  ASSERT_EQ(::stat(place.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
  EXPECT_TRUE(says(error_of_opening("file://" + place + "/a/b", errc::unavailable), place));
}

TEST(file_places, a_directory_that_others_may_write_is_refused) {
  const lock_folder folder;
  ::chmod(folder.path().c_str(), 0777);
  EXPECT_TRUE(says(error_of_opening(folder.url(), errc::refused), "may be written by other users"));
}

TEST(file_places, a_directory_of_someone_else_is_refused) {
  const lock_folder folder;
  if (::chown(folder.path().c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "skipped: only root can give a directory away";
  const auto store = open_backend(folder.url());  // for root, who may look
  contender p(*store, "x");
  const answer a = p.try_once();
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_TRUE(says(a.why.text, "belongs to user 12345"));
}

TEST(file_places, a_symbolic_link_is_refused_however_it_is_spelt) {
  const lock_folder folder;
  fs::create_directory(folder.file("real"));
  fs::create_symlink(folder.file("real"), folder.file("link"));
  for (const std::string end : {"", "/", "/.", "//./"})
    EXPECT_TRUE(
        says(error_of_opening(folder.url() + "/link" + end, errc::refused), "symbolic link"));
  fs::create_symlink(folder.file("nowhere"), folder.file("dangling"));
  error_of_opening(folder.url() + "/dangling", errc::refused);
}

TEST(file_places, what_is_no_directory_is_refused) {
  const lock_folder folder;
  std::ofstream(folder.file("plain")) << "x";
  EXPECT_TRUE(says(error_of_opening(folder.url() + "/plain", errc::refused), "not a directory"));
}

TEST(file_places, urls_and_options_that_mean_nothing_are_refused) {
  const lock_folder folder;
  error_of_opening("file://web7/locks", errc::bad_url);
  error_of_opening("file://localhost", errc::bad_url);
  error_of_opening("file://localhost:80" + folder.path().string(), errc::bad_url);
  for (const std::string relative : {"file:locks", "file:./locks", "file:lock:x@y"})
    EXPECT_TRUE(says(error_of_opening(relative, errc::bad_url), "file:///absolute/path"));
  EXPECT_TRUE(says(error_of_opening(folder.url() + "?nfs=1", errc::bad_option), "network"));
  error_of_opening(folder.url() + "?network=perhaps", errc::bad_option);
  open_backend(folder.url() + "?network=1");
  open_backend("file://localhost" + folder.path().string());
}

TEST(file_places, the_default_directory_is_the_users_own) {
  const auto store = open_backend("file:");
  contender p(*store, "holdfast-fault-test of the default directory");
  p.hold();
  const std::string name = "holdfast-" + std::to_string(::geteuid());
  const std::string file = "/holdfast-fault-test%20of%20the%20default%20directory.lock";
  EXPECT_TRUE(fs::exists("/run/lock/" + name + file));
  p.let_go();
  store->close(base::never);
  std::error_code ignored;
  fs::remove("/run/lock/" + name + file, ignored);
}

struct bad_file {
  std::string says;
  std::function<void(const fs::path&)> make;
};

TEST(file_places, a_lock_file_that_is_something_else_is_refused_by_name) {
  const lock_folder folder;
  std::ofstream(folder.file("other")) << "";
  const std::vector<bad_file> all = {
      {"symbolic link", [&](const fs::path& p) { fs::create_symlink(folder.file("other"), p); }},
      {"symbolic link", [&](const fs::path& p) { fs::create_symlink("/nonexistent/x", p); }},
      {"directory", [](const fs::path& p) { fs::create_directory(p); }},
      {"not a regular file", [](const fs::path& p) { EXPECT_EQ(::mkfifo(p.c_str(), 0600), 0); }},
      {"hard link", [&](const fs::path& p) { fs::create_hard_link(folder.file("other"), p); }},
  };
  const auto store = open_backend(folder.url());
  for (const bad_file& bad : all) {
    SCOPED_TRACE(bad.says);
    bad.make(folder.file("x.lock"));
    contender p(*store, "x");
    const answer a = p.try_once();
    EXPECT_EQ(a.what, kind::refused);
    EXPECT_EQ(a.why.code, errc::refused);
    EXPECT_TRUE(says(a.why.text, bad.says) && says(a.why.text, folder.file("x.lock").string()))
        << a.why.text;
    fs::remove(folder.file("x.lock"));
    EXPECT_GT(p.hold(), 0);
    p.let_go();
    fs::remove(folder.file("x.lock"));
  }
  EXPECT_FALSE(fs::exists("/nonexistent/x"));
  store->close(base::never);
}

TEST(file_places, a_lock_file_of_another_user_is_refused) {
  const lock_folder folder;
  std::ofstream(folder.file("x.lock")) << "";
  if (::chown(folder.file("x.lock").c_str(), 12345, 12345) != 0)
    GTEST_SKIP() << "skipped: only root can give a file away";
  const auto store = open_backend(folder.url());
  contender p(*store, "x");
  const answer a = p.try_once();
  EXPECT_EQ(a.why.code, errc::refused);
  EXPECT_TRUE(says(a.why.text, "another user")) << a.why.text;
  store->close(base::never);
}

TEST(file_places, names_that_look_like_paths_are_locks_in_the_folder) {
  const lock_folder folder;
  const std::string place = folder.path().string() + "/in/locks";
  fs::create_directories(place);
  ::chmod(place.c_str(), 0700);
  const auto store = open_backend("file://" + place);
  const std::string names[] = {"..",
                               ".",
                               "../../escape",
                               "/etc/x",
                               "a/b",
                               "x.waiters",
                               ".probe",
                               std::string(511, '/') + "a",
                               std::string(511, '/') + "b"};
  std::vector<std::unique_ptr<contender>> all;
  for (const std::string& name : names) {
    all.push_back(std::make_unique<contender>(*store, name));
    all.back()->hold();  // each beside the others
  }
  const auto found = inspect(*store);
  EXPECT_EQ(found.size(), std::size(names));
  for (const std::string& name : names)
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [&](const holder& h) {
      return h.name == name;
    })) << name;
  for (const auto& p : all) p->let_go();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path() / "in"), {}), 1);
  store->close(base::never);
}

TEST(file_places, what_a_program_without_standard_streams_prints_goes_into_no_lock_file) {
  const lock_folder folder;
  other_process bare([&](const other_process::line& l) {
    for (const int standard : {0, 1, 2}) ::close(standard);
    const auto store = open_backend(folder.url());
    contender p(*store, "x");
    p.hold();
    EXPECT_GT(p.claim().native_handle(), 2);
    l.say(::write(1, "x", 1) < 0 ? "nowhere" : "somewhere");
  });
  EXPECT_EQ(bare.hear(), "nowhere");
  EXPECT_EQ(bare.wait(), 0);
}

}  // namespace
}  // namespace holdfast::file_test
