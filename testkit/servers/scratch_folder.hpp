// A folder for the files of one test.
#pragma once
#include <filesystem>
#include <string>

namespace holdfast::testkit {

// In the folder for temporary files, readable by this user alone; removed with all that is in it.
// Its path is short enough for Unix sockets. Throws std::system_error.
class scratch_folder {
 public:
  explicit scratch_folder(const std::string& below = "/tmp");
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::string read(const std::string& name) const;  // "" when there is no such file

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::testkit
