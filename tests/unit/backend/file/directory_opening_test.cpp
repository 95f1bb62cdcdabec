// Opening the directory of the locks, and the files in it.
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "backend/file/directory.hpp"
#include "testkit/no_descriptors.hpp"
#include "testkit/seccomp.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/backend/file/before_call.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"
#include "tests/unit/backend/file/reported_file_system.hpp"
#include "tests/unit/in_a_child.hpp"

namespace holdfast::file {
namespace {

class file_directory_opening : public ::testing::Test {
 protected:
  directory open(const std::string& path, directory_options o = {}) {
    o.log = {[](log_level, std::string_view line, void* to) {
               static_cast<std::vector<std::string>*>(to)->emplace_back(line);
             },
             &logged};
    return {descriptors, url::parse("file:"), path, o};
  }
  std::string refusal(const std::string& path) {
    try {
      open(path);
    } catch (const lock_error& e) {
      return e.what();
    }
    return {};
  }

  const testkit::scratch_folder folder;
  descriptor_table descriptors;
  std::vector<std::string> logged;
};

TEST_F(file_directory_opening, warns_of_one_that_did_not_exist_and_of_no_other) {
  open(folder.path().string());
  EXPECT_EQ(logged.size(), 0u);
  open(folder.file("new"));
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_NE(logged[0].find(folder.file("new") + " did not exist"), std::string::npos) << logged[0];
  open(folder.file("new"));
  EXPECT_EQ(logged.size(), 1u);
}

TEST_F(file_directory_opening, has_the_path_without_slashes_at_its_end) {
  for (const std::string end : {"", "/", "//", "/.", "/./"})
    EXPECT_EQ(open(folder.path().string() + end).path(), folder.path());
}

TEST_F(file_directory_opening, of_the_root_is_of_no_other_directory) {
  if (::geteuid() == 0) {
    EXPECT_EQ(open("/").path(), "/");
  } else {
    EXPECT_NE(refusal("/").find("the lock directory / belongs to user 0"), std::string::npos)
        << refusal("/");
  }
}

gid_t allowed(gid_t group) { return group_of(std::to_string(group), url::parse("file:///locks")); }

// Whether the test was true in a child that is not root and is in one group only.
bool is_true_for_a_user(const std::function<bool()>& test) {
  return unit_tests::is_true_in_a_child([&] {
    if (::geteuid() == 0 &&
        (::setgroups(0, nullptr) != 0 || ::setresgid(65534, 65534, 65534) != 0 ||
         ::setresuid(65534, 65534, 65534) != 0))
      return false;
    return test();
  });
}

TEST_F(file_directory_opening, of_a_group_is_also_for_those_whose_own_group_it_is) {
  EXPECT_TRUE(is_true_for_a_user([] { return allowed(::getegid()) == ::getegid(); }));
}

TEST_F(file_directory_opening, of_a_group_is_also_for_root) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root is in no group and may use each";
  EXPECT_EQ(allowed(::getegid() + 12'345), ::getegid() + 12'345);
}

TEST_F(file_directory_opening, of_a_group_is_refused_to_a_process_whose_groups_cannot_be_read) {
  EXPECT_TRUE(is_true_for_a_user([] {
    if (!testkit::deny(SYS_getgroups, EPERM)) return true;
    try {
      allowed(::getegid() + 1);
      return false;
    } catch (const lock_error& e) {
      return e.code() == errc::refused;
    }
  }));
}

TEST_F(file_directory_opening, of_a_new_directory_makes_it_this_users_alone) {
  const directory place = open(folder.file("new"));
  EXPECT_FALSE(place.untrusted());
  struct stat st;
  ASSERT_EQ(::stat(folder.file("new").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
}

TEST_F(file_directory_opening, of_a_group_changes_no_directory_that_is_there) {
  const std::string path = folder.file("old");
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  EXPECT_THROW(open(path, {.group = std::to_string(::getegid())}), lock_error);
  struct stat st;
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0700u);
}

TEST_F(file_directory_opening, accepts_a_directory_that_another_process_creates_at_that_moment) {
  const std::string path = folder.file("new");
  const before_call other(system_call::mkdir, [&] { ::mkdirat(AT_FDCWD, path.c_str(), 0700); });
  EXPECT_EQ(open(path).path(), path);
  EXPECT_TRUE(logged.empty()) << logged[0];
}

TEST_F(file_directory_opening, warns_of_no_new_directory_that_it_refuses) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([this] {
    if (!testkit::deny(SYS_fchown, EPERM)) return true;
    try {
      open(folder.file("new"), {.group = std::to_string(::getegid())});
      return false;
    } catch (const lock_error&) {
      return logged.empty();
    }
  }));
}

TEST_F(file_directory_opening, names_the_remedy_for_the_default_directory_only_for_that_one) {
  folder.write("plain", "");
  const std::string why = refusal(folder.file("plain"));
  EXPECT_NE(why.find("not a directory"), std::string::npos) << why;
  EXPECT_EQ(why.find("HOLDFAST_URL"), std::string::npos) << why;
}

TEST_F(file_directory_opening, creates_nothing_in_the_place_of_a_link_or_a_file) {
  std::filesystem::create_symlink(folder.file("nowhere"), folder.file("link"));
  EXPECT_NE(refusal(folder.file("link")).find("symbolic link"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.file("nowhere")));
}

TEST_F(file_directory_opening, creates_nothing_where_it_cannot_open_anything) {
  if (testkit::sanitizer_needs_descriptors) GTEST_SKIP() << "the sanitizer needs descriptors";
  std::string why;
  {
    const testkit::no_descriptors none;
    why = refusal(folder.file("new"));
  }
  EXPECT_NE(why.find("ulimit -n"), std::string::npos) << why;
  EXPECT_FALSE(std::filesystem::exists(folder.file("new")));
}

TEST_F(file_directory_opening, is_refused_on_a_file_system_of_several_hosts) {
  const reported_file_system reported(nfs_type);
  EXPECT_NE(refusal(folder.path().string()).find("is on nfs"), std::string::npos);
  const directory place = open(folder.path().string(), {.network = true});
  EXPECT_TRUE(place.remote());
  EXPECT_FALSE(place.removes_unused());
}

TEST_F(file_directory_opening, has_names_as_long_as_its_file_system_permits) {
  for (const auto& [reported, expected] :
       {std::pair{143L, std::size_t{143}}, std::pair{1'000L, std::size_t{255}},
        std::pair{0L, std::size_t{255}}}) {
    const reported_file_system other(ext4_type, reported);
    EXPECT_EQ(open(folder.path().string()).name_max(), expected);
  }
}

class file_directory_of_a_group : public file_directory_opening {
 protected:
  struct stat a_file(mode_t mode = 0660) const {
    struct stat st = {};
    st.st_mode = S_IFREG | mode;
    st.st_nlink = 1;
    st.st_uid = ::geteuid() + 1;
    st.st_gid = ::getegid();
    return st;
  }

  directory place = open(folder.file("shared"), {.group = std::to_string(::getegid())});
};

TEST_F(file_directory_of_a_group, trusts_the_groups_files_and_no_others) {
  EXPECT_EQ(place.distrust_file(a_file()), "") << "of another user of the group";
  EXPECT_EQ(place.distrust_file(a_file(0664)), "") << "others may read it";
  struct stat foreign = a_file();
  foreign.st_gid = ::getegid() + 1;
  EXPECT_EQ(place.distrust_file(foreign), "belongs to another group: remove it");
  EXPECT_EQ(place.distrust_file(a_file(0662)), "may be written by everybody: remove it");
  struct stat linked = a_file();
  linked.st_nlink = 2;
  EXPECT_NE(place.distrust_file(linked), "");
}

TEST_F(file_directory_of_a_group, gives_a_new_file_its_mode_and_its_name_at_once) {
  const descriptor made = place.open_or_create("x.lock");
  ASSERT_TRUE(made) << errno;
  struct stat ours, named;
  ASSERT_EQ(::fstat(made.get(), &ours), 0);
  ASSERT_EQ(::stat((folder.file("shared") + "/x.lock").c_str(), &named), 0);
  EXPECT_EQ(ours.st_ino, named.st_ino);
  EXPECT_EQ(ours.st_mode & 0777, 0660u);
  const descriptor again = place.open_or_create("x.lock");
  ASSERT_TRUE(again);
  ASSERT_EQ(::fstat(again.get(), &ours), 0);
  EXPECT_EQ(ours.st_ino, named.st_ino);
}

// Others create the file before this process does, and remove it before it is opened.
TEST_F(file_directory_of_a_group, gives_a_file_up_that_others_create_and_remove_all_the_time) {
  EXPECT_TRUE(unit_tests::is_true_in_a_child([this] {
    if (!testkit::deny(SYS_linkat, EEXIST)) return true;
    return !place.open_or_create("x.lock");
  }));
}

TEST_F(file_directory_of_a_group, reports_that_a_process_may_create_no_file) {
  ASSERT_EQ(::chmod(folder.file("shared").c_str(), 0555), 0);
  EXPECT_TRUE(is_true_for_a_user([this] { return !place.open_or_create("x") && errno == EACCES; }));
}

TEST_F(file_directory_of_a_group, reports_why_a_file_cannot_be_opened) {
  std::filesystem::create_symlink("elsewhere", folder.file("shared") + "/link");
  EXPECT_FALSE(place.open_or_create("link"));
  EXPECT_EQ(errno, ELOOP);
  std::filesystem::create_directory(folder.file("shared") + "/folder");
  EXPECT_FALSE(place.open_or_create("folder"));
  EXPECT_EQ(errno, EISDIR);
  EXPECT_FALSE(place.open_or_create("no/such"));
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(file_directory_opening, creates_files_for_this_user_alone) {
  const descriptor made = open(folder.path().string()).open_or_create("x.lock");
  struct stat st;
  ASSERT_EQ(::fstat(made.get(), &st), 0);
  EXPECT_EQ(st.st_mode & 07777, 0600u);
}

TEST_F(file_directory_opening, trusts_the_users_own_files_and_no_others) {
  const directory place = open(folder.path().string());
  struct stat st = {};
  st.st_mode = S_IFREG | 0666;
  st.st_nlink = 1;
  st.st_uid = ::geteuid();
  st.st_gid = ::getegid() + 1;
  EXPECT_EQ(place.distrust_file(st), "") << "the directory keeps other users out";
  st.st_uid = ::geteuid() + 1;
  EXPECT_EQ(place.distrust_file(st), "belongs to another user: remove it");
}

}  // namespace
}  // namespace holdfast::file
