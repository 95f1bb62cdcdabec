// The lock directory of a test, and its files as another process opens them.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "backend/file/lock_file.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace holdfast::file {

// An open file description of its own, as another process has it.
class other_description {
 public:
  explicit other_description(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    EXPECT_GE(fd_, 0) << path;
  }
  ~other_description() { close(); }
  other_description(const other_description&) = delete;
  other_description& operator=(const other_description&) = delete;

  int get() const noexcept { return fd_; }
  bool try_lock(int operation) const noexcept { return ::flock(fd_, operation | LOCK_NB) == 0; }
  void close() noexcept {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

struct record_fields {
  std::string_view name = "x";
  std::int64_t number = 1;
  std::chrono::microseconds since{};
  std::string_view host = "here";
  std::int64_t pid = 1;
  kind as{};
};

inline std::string record_as_text(const record_fields& of) {
  record_text text;
  text.describe(of.name, of.host, {}, of.pid, 2, of.as);
  text.stamp(of.number, of.since);
  return {text.bytes().begin(), text.bytes().end()};
}

class a_lock_folder : public ::testing::Test {
 protected:
  explicit a_lock_folder(const directory_options& o = {})
      : all(url::parse("file:"), scratch.path().string(), o, "here") {}

  std::string path(const std::string& file) const { return scratch.file(file); }
  bool exists(const std::string& file) const { return std::filesystem::exists(path(file)); }
  void put(const std::string& file, const std::string& content) const {
    scratch.write(file, content);
    std::filesystem::permissions(path(file), std::filesystem::perms(0600));
  }

  const testkit::scratch_folder scratch;
  folder all;
};

}  // namespace holdfast::file
