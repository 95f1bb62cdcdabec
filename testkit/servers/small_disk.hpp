// A small file system of a test's own, which the test fills.
#pragma once
#include <cstddef>
#include <string>

#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::testkit {

// In memory, and unmounted with the object. Where this user may mount none, path() is an ordinary
// folder, is_mounted() is false, and nothing else may be called.
class small_disk {
 public:
  explicit small_disk(std::size_t kilobytes);
  ~small_disk();
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool is_mounted() const noexcept { return is_mounted_; }
  std::string path() const { return folder_.file("disk"); }

  void fill() const;  // until no byte more can be written
  void make_room() const;

  // For programs that open path() from now on. Those that have opened it before still write: the
  // kernel makes no file system read-only in which a file is open for writing.
  void make_read_only() const;  // throws std::system_error
  void make_writable() const;

 private:
  std::string filler() const { return path() + "/filler"; }
  std::string cover() const { return folder_.file("cover"); }
  bool mount_both(std::size_t kilobytes) const;
  void unmount_both() const;

  const scratch_folder folder_;
  bool is_mounted_ = false;
};

}  // namespace holdfast::testkit
