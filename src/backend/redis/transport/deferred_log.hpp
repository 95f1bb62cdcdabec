// Lines for the log that come up while a mutex is held: written once it is released, since a
// program's log handler may call the library.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace holdfast::redis {

class deferred_log {
 public:
  using lines = std::vector<std::pair<log_level, std::string>>;

  void add(log_level level, std::string line) { lines_.emplace_back(level, std::move(line)); }
  bool is_empty() const noexcept { return lines_.empty(); }
  lines take() noexcept { return std::exchange(lines_, {}); }
  static void write(const lines& all) noexcept {
    for (const auto& [level, text] : all) core::log(level, text);
  }

 private:
  lines lines_;
};

}  // namespace holdfast::redis
