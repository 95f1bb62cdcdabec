// A URL on the command line, where everybody can read it with ps.
#pragma once
#include <string>

namespace holdfast::cli {

// Copies the argument and overwrites, where it stands in argv, each byte that may be of a password.
std::string take_secret_argument(char* argument);

}  // namespace holdfast::cli
