// Judges the figures of one row, and formats them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

enum class kind : unsigned char {
  rate,  // good when high: must be at least its bar
  cost,  // good when low: must be at most its bar
};

struct spread {
  double median = 0, min = 0, max = 0;
};

inline spread spread_of(std::vector<double> v) {
  if (v.empty()) throw std::invalid_argument("no figure to take a median of");
  std::sort(v.begin(), v.end());
  const auto n = v.size();
  const double middle = n % 2 == 1 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
  return {middle, v.front(), v.back()};
}

// A plain decimal with four significant digits or more, never with an exponent.
inline std::string plain(double v) {
  if (!std::isfinite(v)) throw std::invalid_argument("a figure is not a finite number");
  const double magnitude = v == 0 ? 0 : std::floor(std::log10(std::fabs(v)));
  const int decimals = std::clamp(3 - static_cast<int>(magnitude), 0, 15);
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, v);
  return text;
}

// False for a figure that is not a number.
inline bool meets(kind k, double bar, double figure) {
  return k == kind::rate ? figure >= bar : figure <= bar;
}

// Whether figure a is worse news than figure b.
inline bool worse(kind k, double a, double b) { return k == kind::rate ? a < b : a > b; }

}  // namespace bench
