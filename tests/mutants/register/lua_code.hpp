// The code of a Lua script: its text without comments, and one space for each run of white space
// outside of strings. Edits of scripts are found in it, so that a changed comment or line break
// touches no mutant.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::mutants {

// Throws std::invalid_argument for a comment or a string in long brackets, which it does not read.
std::string code_of(std::string_view lua);

// How often `piece` stands in `code`.
int count_of(std::string_view piece, std::string_view code);

// The text of "string/release" without its include line; empty when there is no such script.
std::string text_of_script(std::string_view name);

}  // namespace holdfast::mutants
