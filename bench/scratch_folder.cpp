#include "scratch_folder.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bench {

scratch_folder::scratch_folder() {
  std::filesystem::path home = "/run/lock";
  if (access(home.c_str(), W_OK | X_OK) != 0) home = std::filesystem::temp_directory_path();
  std::string name = home / "holdfast-bench-XXXXXX";
  if (!mkdtemp(name.data()))
    throw std::system_error(errno, std::generic_category(),
                            "cannot make a folder in " + home.string());
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace bench
