// Named URLs of stores, which a user keeps in holdfast.toml.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::cli {

struct profile {
  std::string url;     // as it is in the file, secrets included
  std::string source;  // "/home/app/.config/holdfast.toml, line 3", for messages
};

// Reads the profile of this name from $XDG_CONFIG_HOME/holdfast.toml, or from
// ~/.config/holdfast.toml where that variable is not set. Reports a file that has a password in it
// and that other users may read, and one that other users may change.
//
// Throws usage_error: the file cannot be read, is not TOML, or has no such profile. The text names
// the file, the line and the remedy, and quotes no URL.
profile read_profile(std::string_view name);

}  // namespace holdfast::cli
