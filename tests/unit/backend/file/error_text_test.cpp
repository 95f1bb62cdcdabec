#include "backend/file/error_text.hpp"

#include <errno.h>
#include <gtest/gtest.h>

#include <system_error>

namespace holdfast::file {
namespace {

TEST(file_error_text, has_the_code_and_the_remedy_of_each_error) {
  struct row {
    int error;
    errc code;
    const char* remedy;
  };
  const row rows[] = {
      {EACCES, errc::refused, "give this user the right to read and write there"},
      {EPERM, errc::refused, "or permit the system call in the sandbox (seccomp)"},
      {ENOSYS, errc::unsupported, "permit the system call in the sandbox (seccomp)"},
      {EROFS, errc::refused, "name a directory on a file system that can be written"},
      {ENOSPC, errc::refused, "free some space or inodes there (df, df -i)"},
      {EDQUOT, errc::refused, "or raise this user's quota"},
      {EMFILE, errc::refused, "raise the limit of open files (ulimit -n)"},
      {ENFILE, errc::refused, "raise the system's limit of open files (sysctl fs.file-max)"},
      {ELOOP, errc::refused, "it is a symbolic link: remove it, or name what it points to"},
      {EISDIR, errc::refused, "it is a directory: remove it"},
      {ENXIO, errc::refused, "it is not a regular file: remove it"},
      {ENOTDIR, errc::refused, "a part of the path is not a directory: name another"},
      {ENAMETOOLONG, errc::refused, "on a file system that takes longer names"},
      {ENOENT, errc::unavailable, "create its parent directory"},
      {ENOLCK, errc::unavailable, "the kernel has no room for more locks: end some holders"},
      {EOPNOTSUPP, errc::unsupported, "this file system has no flock: name another directory"},
      {EIO, errc::unavailable, "check the disk"},
      {EBADF, errc::unavailable, "check the directory and its file system"},
  };
  for (const row& r : rows) {
    const base::failure why = error_text("open", "/srv/x.lock", r.error);
    const std::string message = std::generic_category().message(r.error);
    EXPECT_EQ(why.code, r.code) << message;
    EXPECT_EQ(why.text.find("cannot open /srv/x.lock: " + message + "; "), 0u) << why.text;
    EXPECT_TRUE(why.text.ends_with(r.remedy)) << why.text;
  }
}

TEST(file_error_text, names_both_kinds_of_a_mismatch) {
  const base::failure why = another_kind({lock_mode::permit, 1, 5}, {.mode = lock_mode::shared});
  EXPECT_EQ(why.code, errc::mismatch);
  EXPECT_EQ(why.text, "its current holders use it as a semaphore of 5 permits, and it was "
                      "requested as a lock: use another name for one of them");
}

TEST(file_error_text, has_the_code_of_each_refusal) {
  const base::failure trouble{errc::unsupported, "the trouble"};
  const auto of = [&](reason why) { return refusal(why, "/srv/x.lock", trouble); };
  EXPECT_EQ(of(reason::busy).code, errc::timed_out);
  EXPECT_EQ(of(reason::busy).text, "");
  EXPECT_EQ(of(reason::none).code, errc::timed_out);
  EXPECT_EQ(of(reason::failed).code, errc::unsupported);
  EXPECT_EQ(of(reason::failed).text, "the trouble");
  EXPECT_EQ(of(reason::another_kind).text, "the trouble");
  EXPECT_EQ(of(reason::unsteady).code, errc::unavailable);
  EXPECT_EQ(of(reason::garbage).code, errc::refused);
  EXPECT_EQ(of(reason::another).code, errc::mismatch);
  EXPECT_EQ(of(reason::exhausted).code, errc::refused);
  for (const reason why : {reason::unsteady, reason::garbage, reason::another, reason::exhausted})
    EXPECT_NE(of(why).text.find("/srv/x.lock"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::file
