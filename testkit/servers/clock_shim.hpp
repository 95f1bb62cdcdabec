// Moves the clock of a server that is started under it: CLOCK_REALTIME, at once, while it runs.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::testkit {

// The offset lies in a file that the server maps (preload/clock_shim.cpp).
class clock_shim {
 public:
  explicit clock_shim(const std::string& file);  // offset 0; throws std::system_error
  ~clock_shim();
  clock_shim(const clock_shim&) = delete;
  clock_shim& operator=(const clock_shim&) = delete;

  void set_offset(std::chrono::milliseconds) noexcept;
  // The environment in which to start the server; see program_terms.
  std::vector<std::pair<std::string, std::string>> environment() const;

 private:
  std::string file_;
  long long* offset_ms_;
};

}  // namespace holdfast::testkit
