// The results as JSON. docs/internals/survey.md describes it.
#pragma once
#include <string>

#include "survey/survey.hpp"

namespace survey {

enum class detail : unsigned char { every_run, figures_only };
std::string to_json(const results&, detail);
// Throws std::runtime_error: the text is not such a file.
results from_json(const std::string& text);

// They throw std::runtime_error.
void save(const results&, const std::string& file);
void write_file(const std::string& path, const std::string& text);
// Writes a new file and renames it, so that an interruption leaves the old one whole.
void replace_file(const std::string& path, const std::string& text);
std::string read_file(const std::string& path);  // "": there is none

}  // namespace survey
