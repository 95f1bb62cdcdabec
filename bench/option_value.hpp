// Values of the command line.
#pragma once
#include <string>

namespace bench {

struct usage_error {
  std::string text;
};

// Throws usage_error when the text is no number, or out of range.
double number_of(const std::string& option, const std::string& text, double least, double most);

}  // namespace bench
