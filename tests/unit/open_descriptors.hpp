// The descriptors that this process has open.
#pragma once
#include <cstddef>
#include <filesystem>
#include <iterator>

namespace holdfast::unit_tests {

// Counts the one with which it counts as well.
inline std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd"), end;
  return std::distance(begin(all), end);
}

}  // namespace holdfast::unit_tests
