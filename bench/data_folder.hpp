// Where the program finds its own files.
#pragma once
#include <filesystem>
#include <string>

namespace bench {

// The folder with bars.toml, the survey's page and the peers' programs: of the installation that
// this program belongs to, else of the sources from which it was built.
std::filesystem::path data_folder();

bool is_installed_program();

// The folder for what is fetched or built on demand: that of the build, or
// $XDG_CACHE_HOME/holdfast (~/.cache/holdfast) for an installed program.
std::filesystem::path writable_folder();

}  // namespace bench
