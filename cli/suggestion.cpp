#include "cli/suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::cli {
namespace {

// Levenshtein's distance, a row of the table at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> costs(b.size() + 1);
  std::iota(costs.begin(), costs.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = costs[0];
    costs[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = costs[j + 1];
      costs[j + 1] = std::min({replaced, costs[j] + 1, costs[j + 1] + 1});
    }
  }
  return costs.back();
}

}  // namespace

std::string_view nearest_of(const std::vector<std::string_view>& words, std::string_view word) {
  std::size_t nearest = 3;
  std::string_view meant;
  for (const std::string_view w : words) {
    const std::size_t d = distance(word, w);
    if (d >= nearest || d >= w.size()) continue;
    nearest = d;
    meant = w;
  }
  return meant;
}

std::string did_you_mean(std::string_view meant) {
  return meant.empty() ? std::string() : "; did you mean '" + std::string(meant) + "'?";
}

}  // namespace holdfast::cli
