#include "backend/file/directory.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "backend/file/error_text.hpp"
#include "backend/file/naming.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"

namespace holdfast::file {
namespace {

struct file_system {
  unsigned type;  // f_type of statfs(2), which shows 32 bits of it
  std::string_view name;
};
constexpr unsigned overlay_type = 0x794c7630;
constexpr file_system remote_ones[] = {
    {0x6969, "nfs"},           {0x517b, "smb"},      {0xff534d42, "cifs"},   {0xfe534d42, "smb2"},
    {0x65735546, "fuse"},      {0x01021997, "9p"},   {0x00c36400, "ceph"},   {0x5346414f, "afs"},
    {0x6b414653, "afs"},       {0x73757245, "coda"}, {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},
    {overlay_type, "overlay"},
};

constexpr int openings_in_turn = 100;  // of a file that others create and remove continually

// Removes slashes and dots at the end: open() would follow a symbolic link before them.
std::string tidy(std::string path) {
  while (path.size() > 1 && (path.ends_with('/') || path.ends_with("/."))) path.pop_back();
  return path;
}

std::string absolute(const std::string& path) {
  std::error_code ec;
  // So that a later chdir() changes nothing.
  const auto whole = std::filesystem::absolute(path, ec);
  return ec ? path : whole.string();
}

// The fault of a directory shared by the members of a group; empty if there is none.
std::string distrust_shared(const struct stat& st, gid_t group) {
  const std::string set = "chgrp " + std::to_string(group) + " and chmod 2770 it";
  if (st.st_gid != group)
    return "belongs to group " + std::to_string(st.st_gid) + ", not to group " +
           std::to_string(group) + ": " + set;
  if (st.st_mode & S_IWOTH)
    return "may be written by everybody (mode " + octal(st.st_mode) + "): " + set;
  if (st.st_mode & S_ISVTX)
    return "is sticky (mode " + octal(st.st_mode) +
           "), so the members cannot open each other's files: " + set;
  if (!(st.st_mode & S_ISGID) || (st.st_mode & S_IRWXG) != S_IRWXG)
    return "is not shared by its group (mode " + octal(st.st_mode) + "): " + set;
  return {};
}

}  // namespace

std::string default_path(uid_t user) { return "/run/lock/holdfast-" + std::to_string(user); }

std::string octal(mode_t mode) {
  char text[8];
  ::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

std::string_view remote_file_system(long fs_type) noexcept {
  for (const file_system& f : remote_ones)
    if (f.type == static_cast<unsigned>(fs_type)) return f.name;
  return {};
}

std::optional<base::failure> distrust(const std::string& path, const struct stat& st, long fs_type,
                                      const directory_rules& rules) {
  const auto refuse = [&path](const std::string& why) {
    return base::failure{errc::refused, "the lock directory " + path + " " + why};
  };
  if (!S_ISDIR(st.st_mode)) return refuse("is not a directory: name another");
  if (rules.group) {
    if (auto wrong = distrust_shared(st, *rules.group); !wrong.empty()) return refuse(wrong);
  } else if (st.st_uid != rules.user)
    return refuse(
        "belongs to user " + std::to_string(st.st_uid) + ", not to user " +
        std::to_string(rules.user) +
        ", and its owner could take locks away: name another directory with the URL, for "
        "example file:///home/me/locks, or add ?group= if the members of a group share it");
  if (!rules.group && (st.st_mode & (S_IWGRP | S_IWOTH)))
    return refuse(
        "may be written by other users (mode " + octal(st.st_mode) +
        "), and they could take locks away: name a directory of this user alone, for example " +
        (path.ends_with('/') ? path : path + '/') +
        "locks, or add ?group= if the members of a group share it");
  const std::string_view remote = remote_file_system(fs_type);
  if (remote.empty() || rules.network) return {};
  if (static_cast<unsigned>(fs_type) == overlay_type && rules.overlay) return {};
  return refuse("is on " + std::string(remote) +
                ", where another host may not see a lock: name a local directory, or add "
                "?network=1 if flock excludes holders on all hosts there");
}

directory::directory(descriptor_table& table, const url& where, std::string path,
                     const directory_options& o)
    : table_(table), path_(std::move(path)) {
  const bool wanted = o.unlink.value_or(path_.empty());
  choose(where, o);
  learn();
  removes_unused_ = wanted && !o.network && !remote_ && !untrusted_;
}

std::string_view directory::distrust_file(const struct stat& st) const noexcept {
  if (!S_ISREG(st.st_mode)) return "is not a regular file: remove it";
  if (st.st_nlink > 1) return "has a second name, a hard link: remove one of them";
  if (!rules_.group && st.st_uid != rules_.user) return "belongs to another user: remove it";
  if (!rules_.group) return {};
  if (st.st_gid != *rules_.group) return "belongs to another group: remove it";
  if (st.st_mode & S_IWOTH) return "may be written by everybody: remove it";
  return {};
}

descriptor directory::open_existing(const char* file) const {
  return table_.open([&] {
    return ::openat(fd_.get(), file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  });
}

descriptor directory::open_to_look(const char* file) const {
  return table_.open([&] {
    return ::openat(fd_.get(), file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  });
}

// Other members must be able to open the file from the first moment on, whatever the umask is: it
// gets its name after its mode.
descriptor directory::create_shared(const char* file) const {
  descriptor made = table_.open(
      [&] { return ::openat(fd_.get(), ".", O_RDWR | O_TMPFILE | O_CLOEXEC | O_NOCTTY, 0600); });
  if (!made || ::fchmod(made.get(), 0660) != 0) return {};
  const std::string self = "/proc/self/fd/" + std::to_string(made.get());
  if (::linkat(AT_FDCWD, self.c_str(), fd_.get(), file, AT_SYMLINK_FOLLOW) != 0) return {};
  return made;
}

descriptor directory::open_or_create(const char* file) const {
  for (int i = 0; rules_.group && i < openings_in_turn; ++i) {
    descriptor d = open_existing(file);
    if (d || errno != ENOENT) return d;
    d = create_shared(file);
    if (d || errno != EEXIST) return d;
  }
  if (rules_.group) return {};
  return table_.open([&] {
    return ::openat(fd_.get(), file,
                    O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
  });
}

// A directory that the URL names and that cannot be trusted is an error, never a reason to choose
// another: processes that chose differently would not exclude each other.
void directory::choose(const url& where, const directory_options& given) {
  rules_ = {given.network, path_.empty(), ::geteuid(), {}};
  if (!given.group.empty()) {
    if (path_.empty())
      base::fail(errc::bad_option, "open",
                 "the default directory is of one user: name a directory for the group, "
                 "file:///directory?group=" +
                     given.group,
                 {}, where.text());
    rules_.group = group_of(given.group, where);
  }
  // The default directory is one path for all processes of a user. A process of a sandbox that fell
  // back to another would not exclude the processes outside of it.
  const bool is_default = path_.empty();
  path_ = is_default ? default_path(rules_.user) : absolute(tidy(path_));
  opened o = try_open(path_, rules_);
  fd_ = std::move(o.fd);
  untrusted_ = std::move(o.untrusted);
  if (fd_ && o.created && !is_default)
    base::log(given.log, log_level::warning,
              "the lock directory " + path_ +
                  " did not exist and has been created: if you "
                  "expected it to exist, check the URL");
  if (fd_) return;
  if (is_default)
    o.why.text += ", and set its URL in all programs that share these locks, for example "
                  "--url file:///directory or HOLDFAST_URL";
  base::fail(static_cast<errc>(o.why.code.value()), "open", o.why.text, {}, where.text());
}

directory::opened directory::try_open(const std::string& path, const directory_rules& rules) {
  const auto open = [&path] {
    return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  };
  opened o;
  o.fd = table_.open(open);
  if (!o.fd && errno == ENOENT) {
    o.created = ::mkdir(path.c_str(), 0700) == 0;
    if (!o.created && errno != EEXIST) {
      o.why = error_text("create the lock directory", path, errno);
      return o;
    }
    o.fd = table_.open(open);
  }
  struct stat st;
  if (!o.fd) {
    const int error = errno;
    const bool link = ::lstat(path.c_str(), &st) == 0 && S_ISLNK(st.st_mode);
    o.why = error_text("open the lock directory", path, link ? ELOOP : error);
    return o;
  }
  struct statfs fs;
  if (o.created && rules.group &&
      (::fchown(o.fd.get(), static_cast<uid_t>(-1), *rules.group) != 0 ||
       ::fchmod(o.fd.get(), 02770) != 0)) {
    o.why = error_text("give to its group the lock directory", path, errno);
  } else if (::fstat(o.fd.get(), &st) != 0 || ::fstatfs(o.fd.get(), &fs) != 0) {
    o.why = error_text("examine the lock directory", path, errno);
  } else if (auto wrong = distrust(path, st, static_cast<long>(fs.f_type), rules);
             wrong && !base::planted(base::mutant::file_directory_not_checked)) {
    // Root may inspect the locks of other users there, and acquires none.
    const bool of_others = st.st_uid != 0 || ((st.st_mode & S_ISGID) && !(st.st_mode & S_IWOTH));
    const bool looks = rules.user == 0 && !rules.group && S_ISDIR(st.st_mode) && of_others;
    if (looks) {
      o.untrusted = std::move(*wrong);
      return o;
    }
    o.why = std::move(*wrong);
  } else if (::faccessat(o.fd.get(), ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    o.why = error_text("write to the lock directory", path, errno);
  } else {
    return o;
  }
  o.fd.reset();
  return o;
}

void directory::learn() noexcept {
  struct statfs fs;
  if (::fstatfs(fd_.get(), &fs) != 0) return;
  remote_ = !remote_file_system(static_cast<long>(fs.f_type)).empty() &&
            static_cast<unsigned>(fs.f_type) != overlay_type;
  const auto longest = static_cast<std::size_t>(fs.f_namelen);
  name_max_ = longest > 0 ? std::min(longest, file_name_bytes_max) : file_name_bytes_max;
}

bool directory::is_at_its_path() const noexcept {
  struct stat ours, there;
  return ::fstat(fd_.get(), &ours) == 0 && ::lstat(path_.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

std::optional<base::failure> directory::renew() {
  const std::lock_guard guard(renewing_);
  if (is_at_its_path()) return {};  // another thread has done it
  opened o = try_open(path_, rules_);
  if (!o.fd) return std::move(o.why);
  // The descriptor's number stays, so that no thread ever uses a number that means something else.
  if (::dup3(o.fd.get(), fd_.get(), O_CLOEXEC) < 0)
    return error_text("open the lock directory", path_, errno);
  return {};
}

}  // namespace holdfast::file
