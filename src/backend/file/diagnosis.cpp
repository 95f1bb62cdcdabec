#include "backend/file/diagnosis.hpp"

#include <errno.h>
#include <stdio.h>
#include <sys/vfs.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace holdfast::file {
namespace {

using grade = finding_grade;

// f_type of statfs(2) of those that the locks are meant for.
struct local_file_system {
  unsigned type;
  std::string_view name;
};
constexpr local_file_system local_ones[] = {{0xef53, "ext4"},
                                            {0x58465342, "xfs"},
                                            {0x9123683e, "btrfs"},
                                            {0x01021994, "tmpfs"}};

// Users allowed to rename the entries of a directory can replace them.
bool others_may_rename_in(const struct stat& st, uid_t user) noexcept {
  const bool is_of_others = st.st_uid != 0 && st.st_uid != user;
  const bool may_write = (st.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return is_of_others || (may_write && !(st.st_mode & S_ISVTX));
}

}  // namespace

directory_facts read_facts(const directory& d) {
  directory_facts out{.path = d.path(), .rules = d.rules()};
  if (d.untrusted()) out.untrusted = d.untrusted()->text;
  out.is_at_its_path = d.is_at_its_path();
  struct stat former;
  const std::string other = "/tmp/holdfast-" + std::to_string(out.rules.user);
  if (out.path == default_path(out.rules.user) && ::lstat(other.c_str(), &former) == 0)
    out.former_default = other;
  struct statfs fs;
  if (::fstat(d.get(), &out.info) != 0 || ::fstatfs(d.get(), &fs) != 0) {
    out.unread = std::generic_category().message(errno);
    return out;
  }
  out.removes_unused = d.removes_unused();
  out.fs_type = static_cast<long>(fs.f_type);
  out.block = static_cast<std::uint64_t>(fs.f_bsize);
  const bool is_root = out.rules.user == 0;
  out.bytes_free = (is_root ? fs.f_bfree : fs.f_bavail) * out.block;
  if (fs.f_files != 0) out.files_free = fs.f_ffree;
  for (std::filesystem::path at = out.path; at != at.parent_path();) {
    at = at.parent_path();
    upper_directory up{.path = at.string()};
    if (::stat(up.path.c_str(), &up.info) == 0) out.above.push_back(std::move(up));
  }
  return out;
}

finding grade_directory(const directory_facts& f) {
  if (!f.untrusted.empty())
    return {"directory", grade::bad,
            f.untrusted + "; root may inspect its locks but cannot acquire them",
            "use it as the user whom it belongs to"};
  if (!f.is_at_its_path)
    return {
        "directory", grade::bad,
        f.path +
            " was deleted, moved or replaced: other programs may lock files in another directory",
        "restore it while no lock is held"};
  const std::string text = f.path + ", mode " + octal(f.info.st_mode);
  if (f.rules.group)
    return {"directory", grade::warn,
            text + ", is shared by group " + std::to_string(*f.rules.group) +
                ": each of its members can break every lock",
            "create a group with only the users who share the locks"};
  return {"directory",
          grade::good,
          text + ", of user " + std::to_string(f.info.st_uid) + " alone",
          {}};
}

finding grade_path(const directory_facts& f) {
  for (const upper_directory& up : f.above) {
    // In a group's directory the creator is trusted like every member.
    const uid_t trusted = f.rules.group ? f.info.st_uid : f.rules.user;
    if (others_may_rename_in(up.info, trusted))
      return {"path", grade::bad,
              up.path + " (mode " + octal(up.info.st_mode) + ", of user " +
                  std::to_string(up.info.st_uid) +
                  ") is writable by other users, who could replace " + f.path,
              "chmod go-w or chmod +t " + up.path + ", or name another directory"};
  }
  return {"path", grade::good, "no other user can put another directory in its place", {}};
}

finding grade_file_system(const directory_facts& f) {
  if (!f.unread.empty()) return {"filesystem", grade::warn, "not known: " + f.unread, {}};
  const std::string_view remote = remote_file_system(f.fs_type);
  if (remote == "overlay")
    return {"filesystem", grade::warn,
            "overlay: only processes of the same container exclude each other",
            "mount a directory of the host into each container, and name it in the URL"};
  if (!remote.empty())
    return {"filesystem", grade::bad,
            std::string(remote) +
                ": another host may not see a lock; exclusion depends on that file system's flock",
            "name a local directory, or use a lock server"};
  const auto* const found =
      std::ranges::find(local_ones, static_cast<unsigned>(f.fs_type), &local_file_system::type);
  if (found != std::end(local_ones))
    return {"filesystem", grade::good, std::string(found->name) + ", a local file system", {}};
  char type[16];
  ::snprintf(type, sizeof type, "%#x", static_cast<unsigned>(f.fs_type));
  return {"filesystem", grade::warn,
          std::string("unknown file system (type ") + type + "); holdfast is untested on it",
          "name a directory on ext4, xfs, btrfs or tmpfs"};
}

finding grade_space(const directory_facts& f) {
  if (!f.unread.empty()) return {"space", grade::warn, "not known: " + f.unread, {}};
  std::uint64_t room = f.bytes_free / std::max<std::uint64_t>(f.block, 1);
  if (f.files_free) room = std::min(room, *f.files_free);
  constexpr std::uint64_t little = 100, plenty = 1'000'000;
  const std::string number = room > plenty ? "more than a million" : std::to_string(room);
  if (room >= little) return {"space", grade::good, "room for " + number + " new files", {}};
  return {"space", room == 0 ? grade::bad : grade::warn,
          "room for " + number + " new files: a lock with a new name, or a note, needs one",
          f.removes_unused
              ? "free some space or inodes; holdfast prune removes the files of unused locks"
              : "free some space or inodes (df, df -i)"};
}

finding grade_default(const directory_facts& f) {
  return {"directory", grade::warn,
          f.former_default + " exists as well: earlier versions use it where " + f.path +
              " cannot be created, and its locks do not exclude the locks here",
          "update all programs to this version, end the programs that use " + f.former_default +
              ", and remove it"};
}

std::vector<finding> grade_all(const directory_facts& f) {
  std::vector<finding> all{grade_directory(f), grade_path(f), grade_file_system(f), grade_space(f)};
  if (!f.former_default.empty()) all.insert(all.begin() + 1, grade_default(f));
  return all;
}

}  // namespace holdfast::file
