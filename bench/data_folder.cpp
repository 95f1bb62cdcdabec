#include "data_folder.hpp"

#include <cstdlib>

#include "child_process.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

// PREFIX/share/holdfast/bench for PREFIX/bin/holdfast-bench.
fs::path installed_data() {
  return fs::path(own_program()).parent_path().parent_path() / "share" / "holdfast" / "bench";
}

}  // namespace

bool is_installed_program() { return fs::exists(installed_data() / "bars.toml"); }

fs::path data_folder() {
  return is_installed_program() ? installed_data() : fs::path(__FILE__).parent_path();
}

fs::path writable_folder() {
  if (!is_installed_program()) return fs::path(own_program()).parent_path();
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return fs::path(cache) / "holdfast";
  const char* home = std::getenv("HOME");
  return (home ? fs::path(home) / ".cache" : fs::temp_directory_path()) / "holdfast";
}

}  // namespace bench
