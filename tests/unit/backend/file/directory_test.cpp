#include "backend/file/directory.hpp"

#include <gtest/gtest.h>

namespace holdfast::file {
namespace {

constexpr long ext4 = 0xef53, overlay = 0x794c7630;
constexpr directory_rules of_user_7{.user = 7};

struct stat a_directory(mode_t mode, uid_t owner) {
  struct stat st = {};
  st.st_mode = S_IFDIR | mode;
  st.st_uid = owner;
  return st;
}

std::string complaint_about(const struct stat& st, long fs, const directory_rules& rules) {
  const auto why = distrust("/locks", st, fs, rules);
  if (!why) return {};
  EXPECT_EQ(why->code, errc::refused);
  EXPECT_NE(why->text.find("/locks"), why->text.npos);
  return why->text;
}

TEST(file_directory, ones_own_directory_is_trusted) {
  for (const mode_t mode : {0700, 0750, 0755, 0711})
    EXPECT_EQ(complaint_about(a_directory(mode, 7), ext4, of_user_7), "");
}

TEST(file_directory, someone_elses_is_not_not_even_by_root) {
  EXPECT_NE(complaint_about(a_directory(0700, 8), ext4, of_user_7).find("belongs to user 8"),
            std::string::npos);
  EXPECT_NE(complaint_about(a_directory(0700, 7), ext4, {.user = 0}), "");
}

TEST(file_directory, one_that_others_may_write_is_not) {
  for (const mode_t mode : {0777, 01777, 0702, 0770, 02775})
    EXPECT_NE(complaint_about(a_directory(mode, 7), ext4, of_user_7).find("written by other users"),
              std::string::npos);
}

TEST(file_directory, what_is_no_directory_is_not) {
  struct stat st = a_directory(0700, 7);
  st.st_mode = S_IFREG | 0700;
  EXPECT_NE(complaint_about(st, ext4, of_user_7), "");
}

TEST(file_directory, file_systems_that_other_hosts_share_are_refused_by_name) {
  const std::pair<long, const char*> types[] = {{0x6969, "nfs"},
                                                {static_cast<long>(0xff534d42), "cifs"},
                                                {0x517b, "smb"},
                                                {0x65735546, "fuse"},
                                                {0x01021997, "9p"},
                                                {overlay, "overlay"}};
  for (const auto& [type, name] : types) {
    const std::string why = complaint_about(a_directory(0700, 7), type, of_user_7);
    EXPECT_NE(why.find(name), why.npos);
    EXPECT_NE(why.find("?network=1"), why.npos);
    EXPECT_EQ(complaint_about(a_directory(0700, 7), type, {.network = true, .user = 7}), "");
  }
}

TEST(file_directory, only_the_default_directory_may_be_on_overlay) {
  const directory_rules default_rules{.overlay = true, .user = 7};
  EXPECT_EQ(complaint_about(a_directory(0700, 7), overlay, default_rules), "");
  EXPECT_NE(complaint_about(a_directory(0700, 7), 0x6969, default_rules), "");
}

TEST(file_directory, a_negative_type_of_a_32_bit_system_is_known_too) {
  EXPECT_EQ(remote_file_system(static_cast<int>(0xff534d42)), "cifs");
  EXPECT_EQ(remote_file_system(ext4), "");
}

TEST(file_directory, one_of_a_group_is_trusted_in_one_form_only) {
  const directory_rules of_group_5{.user = 7, .group = 5};
  const auto complaint = [&](mode_t mode, gid_t group) {
    struct stat st = a_directory(mode, 8);
    st.st_gid = group;
    return complaint_about(st, ext4, of_group_5);
  };
  EXPECT_EQ(complaint(02770, 5), "");
  EXPECT_EQ(complaint(02775, 5), "") << "others may read";
  EXPECT_NE(complaint(02770, 6).find("belongs to group 6, not to group 5"), std::string::npos);
  EXPECT_NE(complaint(02772, 5).find("may be written by everybody (mode 2772)"), std::string::npos);
  EXPECT_NE(complaint(03770, 5).find("is sticky (mode 3770)"), std::string::npos);
  EXPECT_NE(complaint(0770, 5).find("is not shared by its group (mode 0770)"), std::string::npos);
  EXPECT_NE(complaint(02750, 5).find("is not shared by its group"), std::string::npos);
  EXPECT_NE(complaint(02770, 6).find("chgrp 5 and chmod 2770 it"), std::string::npos);
}

TEST(file_directory, each_file_system_of_other_hosts_is_known_and_no_local_one) {
  for (const unsigned type :
       {0x6969u, 0x517bu, 0xff534d42u, 0xfe534d42u, 0x65735546u, 0x01021997u, 0x00c36400u,
        0x5346414fu, 0x6b414653u, 0x73757245u, 0x0bd00bd0u, 0x47504653u, 0x794c7630u})
    EXPECT_NE(remote_file_system(static_cast<long>(type)), "") << type;
  for (const unsigned type : {0xef53u, 0x58465342u, 0x9123683eu, 0x01021994u})
    EXPECT_EQ(remote_file_system(static_cast<long>(type)), "") << type;
}

TEST(file_directory, a_mode_is_shown_as_chmod_takes_it) {
  EXPECT_EQ(octal(S_IFDIR | 0700), "0700");
  EXPECT_EQ(octal(07777), "7777");
  EXPECT_EQ(octal(05), "0005");
  EXPECT_EQ(default_path(7), "/run/lock/holdfast-7");
}

}  // namespace
}  // namespace holdfast::file
