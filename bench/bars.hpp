// The bars, out of bars.toml.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "row.hpp"
#include "verdict.hpp"

namespace bench {

struct bar {
  std::string name;
  kind how = kind::rate;
  double at = 0;
  std::string unit, what;
  int cpus = 0;
  seconds least{};
  std::vector<std::pair<std::string, double>> at_most;
};

std::string default_bars_file();  // beside this source file

// Throws std::runtime_error naming the file and the row: when it cannot be read, when a key is
// missing or unknown, when a row of the table has no bar or a bar no row.
std::vector<bar> read_bars(const std::string& file);
const bar* find_bar(const std::vector<bar>&, std::string_view name) noexcept;

}  // namespace bench
