// The directory of the lock files: which one it is, and whether it may be trusted.
#pragma once
#include <holdfast/url.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/file/descriptors.hpp"
#include "base/log.hpp"
#include "seam/claim.hpp"

namespace holdfast::file {

struct directory_options {     // from the URL
  bool network = false;        // ?network=1
  std::optional<bool> unlink;  // ?unlink=; unset: only in the default directory
  std::string group;           // ?group=: its members share the directory
  base::log_sink log;
};

struct directory_rules {
  bool network = false;  // ?network=1: accepts file systems that may not keep locks
  bool overlay = false;  // the default directory: in a container its files are made in the upper
                         // layer, where flock holds, and another container is another host
  uid_t user = 0;
  std::optional<gid_t> group;  // whose members share it; unset: it belongs to the user alone
};

// The id of the group `name`, which may be a number. Throws lock_error: bad_option, or refused when
// this user is not a member.
gid_t group_of(const std::string& name, const url& where);

// The fault of a directory that was opened without following a link; nullopt if there is none.
std::optional<base::failure> distrust(const std::string& path, const struct stat&, long fs_type,
                                      const directory_rules&);

// The name of a file system whose locks other hosts may not see, or empty.
std::string_view remote_file_system(long fs_type) noexcept;

std::string octal(mode_t);  // "0700"

// Where the locks of this user are when the URL names no directory.
std::string default_path(uid_t user);

class directory {
 public:
  // `path` from the URL; empty: /run/lock/holdfast-UID and no other, never a path from an
  // environment variable. Creates the directory, mode 0700,
  // when its parent exists. Throws lock_error.
  directory(descriptor_table&, const url& where, std::string path, const directory_options&);

  int get() const noexcept { return fd_.get(); }  // the same number all its life
  const std::string& path() const noexcept { return path_; }
  std::string path_of(std::string_view file) const { return path_ + '/' + std::string(file); }
  std::size_t name_max() const noexcept { return name_max_; }
  bool remote() const noexcept { return remote_; }
  // Whether the files of unused locks are removed (unused_files.hpp).
  bool removes_unused() const noexcept { return removes_unused_; }

  const directory_rules& rules() const noexcept { return rules_; }
  // Whether other users may write to the files too.
  bool shared() const noexcept { return rules_.group.has_value(); }
  // Set in a directory of another user that root only inspects: no lock can be acquired in it.
  const std::optional<base::failure>& untrusted() const noexcept { return untrusted_; }
  // The fault of one of its files; empty if there is none.
  std::string_view distrust_file(const struct stat&) const noexcept;

  // A file of the directory, opened to read and write; empty with errno when it cannot be opened.
  descriptor open_existing(const char* file) const;
  descriptor open_or_create(const char* file) const;
  descriptor open_to_look(const char* file) const;  // to read only

  bool is_at_its_path() const noexcept;
  // Opens or creates the directory again, after it was deleted or moved: no file can be created in
  // a deleted directory. Returns the failure, if any.
  std::optional<base::failure> renew();

 private:
  struct opened {
    descriptor fd;
    base::failure why;
    bool created = false;
    std::optional<base::failure> untrusted;
  };
  opened try_open(const std::string& path, const directory_rules&);
  void choose(const url& where, const directory_options&);
  void learn() noexcept;
  descriptor create_shared(const char* file) const;

  descriptor_table& table_;
  std::string path_;
  directory_rules rules_;
  descriptor fd_;
  std::optional<base::failure> untrusted_;
  std::mutex renewing_;
  std::size_t name_max_ = 0;
  bool remote_ = false;
  bool removes_unused_ = false;
};

}  // namespace holdfast::file
