#include "backend/file/error_text.hpp"

#include <errno.h>

#include <system_error>

#include "seam/name.hpp"

namespace holdfast::file {
namespace {

struct advice {
  int error;
  errc code;
  const char* remedy;
};

constexpr advice advices[] = {
    {EACCES, errc::refused, "give this user the right to read and write there"},
    {EPERM, errc::refused,
     "give this user the right to read and write there, or permit the system call in the sandbox "
     "(seccomp)"},
    {ENOSYS, errc::unsupported, "permit the system call in the sandbox (seccomp)"},
    {EROFS, errc::refused, "name a directory on a file system that can be written"},
    {ENOSPC, errc::refused, "free some space or inodes there (df, df -i)"},
    {EDQUOT, errc::refused, "free some space there, or raise this user's quota"},
    {EMFILE, errc::refused, "raise the limit of open files (ulimit -n)"},
    {ENFILE, errc::refused, "raise the system's limit of open files (sysctl fs.file-max)"},
    {ELOOP, errc::refused, "it is a symbolic link: remove it, or name what it points to"},
    {EISDIR, errc::refused, "it is a directory: remove it"},
    {ENXIO, errc::refused, "it is not a regular file: remove it"},
    {ENOTDIR, errc::refused, "a part of the path is not a directory: name another"},
    {ENAMETOOLONG, errc::refused, "name a directory on a file system that takes longer names"},
    {ENOENT, errc::unavailable, "create its parent directory"},
    {ENOLCK, errc::unavailable, "the kernel has no room for more locks: end some holders"},
    {EOPNOTSUPP, errc::unsupported, "this file system has no flock: name another directory"},
    {EIO, errc::unavailable, "check the disk"},
};

}  // namespace

base::failure error_text(std::string_view doing, const std::string& path, int error) {
  std::string text = "cannot ";
  text.append(doing).append(" ").append(path).append(": ");
  text += std::generic_category().message(error);
  for (const advice& a : advices)
    if (a.error == error) return {a.code, text + "; " + a.remedy};
  return {errc::unavailable, text + "; check the directory and its file system"};
}

base::failure another_kind(const kind& held, const kind& asked) {
  return {errc::mismatch, seam::kind_fault(held.of, asked.of)};
}

base::failure refusal(reason why, const std::string& lock_file, const base::failure& trouble) {
  const std::string file = "the lock file " + lock_file;
  switch (why) {
    case reason::none:
    case reason::busy: return {errc::timed_out, {}};
    case reason::failed:
    case reason::another_kind: break;
    case reason::unsteady:
      return {errc::unavailable,
              file + " was deleted repeatedly: stop the program that deletes it"};
    case reason::garbage:
      return {errc::refused, file + " is not a record of holdfast and was left unchanged; end all "
                                    "programs that use the lock, inspect the file and remove it"};
    case reason::another:
      return {errc::mismatch, file + " belongs to a lock of another name: rename one of the locks"};
    case reason::exhausted:
      return {errc::refused,
              "the tokens in " + file +
                  " are used up: end all programs that use the lock, and remove the file"};
  }
  return trouble;
}

}  // namespace holdfast::file
