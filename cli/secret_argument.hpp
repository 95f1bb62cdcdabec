// A URL on the command line, where everybody can read it with ps.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::cli {

// Copies the argument and overwrites, where it stands in argv, each byte that may be of a password.
std::string take_secret_argument(char* argument);

// Throws usage_error for a NAME that is a URL of a store: its password would become part of a
// lock's name, which everybody may see. "https://example.com/page" is a name like others.
void refuse_url(std::string_view name);

}  // namespace holdfast::cli
