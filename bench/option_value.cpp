#include "option_value.hpp"

#include <exception>

#include "verdict.hpp"

namespace bench {

double number_of(const std::string& option, const std::string& text, double least, double most) {
  std::size_t used = 0;
  double value = 0;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used == 0 || used != text.size() || !(value >= least && value <= most))
    throw usage_error{option + " takes a number from " + plain(least) + " to " + plain(most) +
                      ", not \"" + text + '"'};
  return value;
}

}  // namespace bench
