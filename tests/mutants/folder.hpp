// A lock directory for one scenario.
#pragma once
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace holdfast::mutants {

class folder {
 public:
  folder() {
    char name[] = "/tmp/holdfast-mutants-XXXXXX";
    if (::mkdtemp(name) == nullptr)
      throw std::system_error(errno, std::generic_category(), "no folder for the scenario");
    path_ = name;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  const std::string& path() const { return path_; }
  std::string url() const { return "file://" + path_; }
  // As an operator who cleans up does.
  void delete_files() const {
    for (const auto& one : std::filesystem::directory_iterator(path_))
      std::filesystem::remove(one.path());
  }

 private:
  std::string path_;
};

}  // namespace holdfast::mutants
