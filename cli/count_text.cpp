#include "cli/count_text.hpp"

namespace holdfast::cli {

std::string grouped(std::size_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, 1, ',');
  return out;
}

std::string counted(std::size_t number, const char* one, const char* several) {
  return grouped(number) + ' ' + (number == 1 ? one : several);
}

}  // namespace holdfast::cli
