// The directory that the locks are in: which it is, and whether it may be trusted.
#pragma once
#include <holdfast/url.hpp>

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend/file/descriptors.hpp"
#include "seam/claim.hpp"

namespace holdfast::file {

struct directory_options {     // of the URL
  bool network = false;        // ?network=1
  std::optional<bool> unlink;  // ?unlink=; else in the default directory
  std::string group;           // ?group=: its members share the directory
};

struct directory_rules {
  bool network = false;  // ?network=1: file systems are taken that may not keep their locks
  bool overlay = false;  // the default directory: in a container its files are made in the upper
                         // layer, where flock holds, and another container is another host
  uid_t user = 0;
  std::optional<gid_t> group;  // whose members share it; else it is the user's alone
};

// The id of the group `name`, which may be a number. Throws lock_error: bad_option, refused (this
// user is not in it).
gid_t group_of(const std::string& name, const url& where);

// What is wrong with a directory that was opened without following a link; nullopt: nothing.
std::optional<core::failure> distrust(const std::string& path, const struct stat&, long fs_type,
                                      const directory_rules&);

// The file systems whose locks other hosts may not see: their name, or empty.
std::string_view remote_file_system(long fs_type) noexcept;

class directory {
 public:
  // `path` as the URL says it; empty: /run/lock/holdfast-UID or, where /run/lock does not let us
  // make one, /tmp/holdfast-UID, and never anything of the environment. Creates the directory, mode
  // 0700, when its parent exists. Throws lock_error.
  directory(descriptor_table&, const url& where, std::string path, const directory_options&);

  int get() const noexcept { return fd_.get(); }  // the same number all its life
  const std::string& path() const noexcept { return path_; }
  std::string path_of(std::string_view file) const { return path_ + '/' + std::string(file); }
  std::size_t name_max() const noexcept { return name_max_; }
  bool remote() const noexcept { return remote_; }
  // Whether the files of locks that nobody uses are removed (unused_files.hpp).
  bool removes_unused() const noexcept { return removes_unused_; }

  // Whether other users may write to the files too.
  bool shared() const noexcept { return rules_.group.has_value(); }
  // Set in a directory of another user that root only looks at: no lock can be taken in it.
  const std::optional<core::failure>& untrusted() const noexcept { return untrusted_; }
  // What is wrong with a file of it; empty: nothing.
  std::string_view distrust_file(const struct stat&) const noexcept;

  // A file of the directory, to read and write; empty with errno when it cannot be opened.
  descriptor open_existing(const char* file) const;
  descriptor open_or_create(const char* file) const;
  descriptor open_to_look(const char* file) const;  // to read only

  // Opens or creates it anew, after somebody deleted or moved it: no file can be made in a deleted
  // directory. A failure when it cannot be.
  std::optional<core::failure> renew();
  bool is_at_its_path() const noexcept;

 private:
  struct opened {
    descriptor fd;
    core::failure why;
    bool created = false;
    std::optional<core::failure> untrusted;
    bool may_be_elsewhere = false;  // the default directory may be made in another place
  };
  opened try_open(const std::string& path, const directory_rules&);
  void choose(const url& where, const directory_options&);
  void learn() noexcept;
  descriptor create_shared(const char* file) const;

  descriptor_table& table_;
  std::string path_;
  directory_rules rules_;
  descriptor fd_;
  std::optional<core::failure> untrusted_;
  std::mutex renewing_;
  std::size_t name_max_ = 0;
  bool remote_ = false;
  bool removes_unused_ = false;
};

}  // namespace holdfast::file
