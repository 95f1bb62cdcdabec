// A folder for the files of one run.
#pragma once
#include <filesystem>
#include <string>

namespace bench {

// Made for this user alone where lock files are kept (/run/lock), else where temporary files are;
// removed with all that is in it. Throws std::system_error.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string path() const { return path_.string(); }
  std::string file(const char* name) const { return (path_ / name).string(); }
  std::string url() const { return "file://" + path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace bench
