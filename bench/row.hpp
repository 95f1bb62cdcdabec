// One line of the benchmark: what is compared with what.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using seconds = std::chrono::duration<double>;

// What one run of one side came to. `beside` are further figures by name: those that bars.toml has
// a condition for are judged on holdfast's side, the others are only shown.
struct outcome {
  double figure = 0;
  std::vector<std::pair<std::string, double>> beside;
};

using side = std::function<outcome(seconds)>;

struct contest {
  std::string label;  // what sets it apart when a row has several: "64 threads"
  side limit;         // empty when the figure stands alone
  side holdfast;
};

enum class measure : unsigned char {
  ratio,       // holdfast / limit
  difference,  // holdfast - limit
  alone,       // holdfast
};

struct row {
  std::string_view name;
  measure how;
  std::string_view counted;           // what a side's own figure is: "cycles per second"
  std::vector<contest> (*prepare)();  // after pinning, in a process that does nothing else
};

std::span<const row> rows() noexcept;  // rows.cpp: the one table
const row* find_row(std::string_view name) noexcept;

// The rows, by the file that has them.
std::vector<contest> memory_uncontended();
std::vector<contest> memory_crowds();
std::vector<contest> memory_renewal();
std::vector<contest> file_uncontended();
std::vector<contest> file_processes();
std::vector<contest> run_spawn();

}  // namespace bench
