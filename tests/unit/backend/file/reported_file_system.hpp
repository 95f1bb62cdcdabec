// A file system that no test can mount.
#pragma once

namespace holdfast::file {

inline constexpr long nfs_type = 0x6969, ext4_type = 0xef53;

// While it lives, fstatfs(2) of this thread reports this type for every file, and that its names
// have at most `name_bytes` bytes unless that is negative.
class reported_file_system {
 public:
  explicit reported_file_system(long type, long name_bytes = -1);
  ~reported_file_system();
  reported_file_system(const reported_file_system&) = delete;
  reported_file_system& operator=(const reported_file_system&) = delete;
};

}  // namespace holdfast::file
