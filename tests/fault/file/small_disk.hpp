// A small file system of a test's own.
#pragma once
#include <gtest/gtest.h>

#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace holdfast::file_test {

// Nothing where this user may mount none.
class small_disk {
 public:
  explicit small_disk(const std::filesystem::path& at, const char* type = "tmpfs",
                      const char* options = "size=64k,mode=0700")
      : at_(at) {
    std::filesystem::create_directory(at);
    mounted_ = ::mount("none", at.c_str(), type, 0, options) == 0;
  }
  ~small_disk() {
    if (mounted_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  explicit operator bool() const noexcept { return mounted_; }
  void make_read_only() {
    EXPECT_EQ(::mount("none", at_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
  }
  void fill() {
    std::ofstream out(at_ / "filler", std::ios::binary);
    const std::string block(4096, '#');
    while (out.write(block.data(), 4096).flush()) {}
  }
  void make_room() { std::filesystem::remove(at_ / "filler"); }

 private:
  const std::filesystem::path at_;
  bool mounted_ = false;
};

}  // namespace holdfast::file_test
