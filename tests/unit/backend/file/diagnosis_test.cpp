#include "backend/file/diagnosis.hpp"

#include <gtest/gtest.h>

namespace holdfast::file {
namespace {

using grade = finding_grade;

upper_directory above(mode_t mode, uid_t owner) {
  upper_directory out{.path = "/srv"};
  out.info.st_mode = S_IFDIR | mode;
  out.info.st_uid = owner;
  return out;
}

directory_facts sound() {
  directory_facts f{.path = "/srv/locks", .rules = {.user = 7}};
  f.info.st_mode = S_IFDIR | 0700;
  f.info.st_uid = 7;
  f.above = {above(0755, 0)};
  f.fs_type = 0xef53;
  f.bytes_free = std::uint64_t{1} << 30;
  return f;
}

TEST(file_grading, of_a_sound_directory_is_good_throughout) {
  const auto all = grade_all(sound());
  const char* const subjects[] = {"directory", "path", "filesystem", "space"};
  ASSERT_EQ(all.size(), std::size(subjects));
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].what, subjects[i]);
    EXPECT_EQ(all[i].grade, grade::good) << all[i].why;
    EXPECT_EQ(all[i].remedy, "");
  }
}

TEST(file_grading, of_the_directory) {
  directory_facts f = sound();
  f.rules.group = 5;
  EXPECT_EQ(grade_directory(f).grade, grade::warn);
  f.is_at_its_path = false;
  EXPECT_EQ(grade_directory(f).grade, grade::bad);
  f.untrusted = "the lock directory belongs to user 8";
  EXPECT_NE(grade_directory(f).why.find("user 8"), std::string::npos);
}

TEST(file_grading, of_what_is_above) {
  const auto of = [](mode_t mode, uid_t owner) {
    directory_facts f = sound();
    f.above.push_back(above(mode, owner));
    return grade_path(f).grade;
  };
  EXPECT_EQ(of(0755, 7), grade::good);
  EXPECT_EQ(of(01777, 0), grade::good);
  EXPECT_EQ(of(0777, 0), grade::bad);
  EXPECT_EQ(of(0775, 0), grade::bad);
  EXPECT_EQ(of(0755, 8), grade::bad);
}

TEST(file_grading, of_the_file_system) {
  const auto of = [](long type) {
    directory_facts f = sound();
    f.fs_type = type;
    return grade_file_system(f).grade;
  };
  EXPECT_EQ(of(0x01021994), grade::good);
  EXPECT_EQ(of(0x6969), grade::bad);
  EXPECT_EQ(of(0x794c7630), grade::warn);
  EXPECT_EQ(of(0x1234), grade::warn);
}

TEST(file_grading, of_space_counts_what_runs_out_first) {
  directory_facts f = sound();
  f.files_free = 50;
  EXPECT_EQ(grade_space(f).grade, grade::warn);
  f.bytes_free = 0;
  EXPECT_EQ(grade_space(f).grade, grade::bad);
  f.unread = "Input/output error";
  EXPECT_TRUE(grade_space(f).why.starts_with("not known: "));
}

TEST(file_examination, warns_of_the_default_directory_of_earlier_versions) {
  directory_facts f = sound();
  EXPECT_EQ(grade_all(f).size(), 4u);
  f.former_default = "/tmp/holdfast-7";
  const auto all = grade_all(f);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[1].grade, grade::warn);
  EXPECT_EQ(all[1].why.find("/tmp/holdfast-7 exists as well"), 0u);
}

TEST(file_examination, names_prune_for_a_full_directory_only_where_it_removes_files) {
  directory_facts f = sound();
  f.files_free = 0;
  EXPECT_EQ(grade_space(f).remedy.find("prune"), std::string::npos);
  f.removes_unused = true;
  EXPECT_NE(grade_space(f).remedy.find("prune"), std::string::npos);
}

TEST(file_grading, of_space_is_good_from_a_hundred_new_files_on) {
  directory_facts f = sound();
  f.files_free = 100;
  EXPECT_EQ(grade_space(f).grade, grade::good);
  EXPECT_EQ(grade_space(f).why, "room for 100 new files");
  f.files_free = 99;
  EXPECT_EQ(grade_space(f).grade, grade::warn);
  f.files_free = 1;
  EXPECT_EQ(grade_space(f).grade, grade::warn);
  f.files_free = 0;
  EXPECT_EQ(grade_space(f).grade, grade::bad);
  f.files_free = {};
  f.block = 4096;
  f.bytes_free = std::uint64_t{4096} * 1'000'000;
  EXPECT_EQ(grade_space(f).why, "room for 1000000 new files");
  f.bytes_free += 4096;
  EXPECT_EQ(grade_space(f).why, "room for more than a million new files");
  f.bytes_free = 4096 * 99 + 4095;
  EXPECT_EQ(grade_space(f).grade, grade::warn);
  f.block = 0;
  EXPECT_EQ(grade_space(f).grade, grade::good) << "a block of no size counts as one byte";
}

TEST(file_grading, of_what_is_above_a_groups_directory_trusts_the_one_who_made_it) {
  directory_facts f = sound();
  f.rules.group = 5;
  f.info.st_uid = 8;
  f.above.push_back(above(0755, 8));
  EXPECT_EQ(grade_path(f).grade, grade::good);
  f.above.push_back(above(0755, 7));
  EXPECT_EQ(grade_path(f).grade, grade::bad);
}

TEST(file_grading, of_a_file_system_names_it) {
  directory_facts f = sound();
  EXPECT_EQ(grade_file_system(f).why, "ext4, a local file system");
  f.fs_type = 0x58465342;
  EXPECT_EQ(grade_file_system(f).why, "xfs, a local file system");
  f.fs_type = 0x9123683e;
  EXPECT_EQ(grade_file_system(f).why, "btrfs, a local file system");
  f.fs_type = 0x1234;
  EXPECT_EQ(grade_file_system(f).why,
            "unknown file system (type 0x1234); holdfast is untested on it");
  f.unread = "Input/output error";
  EXPECT_EQ(grade_file_system(f).grade, grade::warn);
  EXPECT_EQ(grade_file_system(f).why, "not known: Input/output error");
}

}  // namespace
}  // namespace holdfast::file
