// Lines for the log that come up while a mutex is held: written once it is released, since a
// program's log handler may call the library.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace holdfast::base {

class deferred_log {
 public:
  struct lines {
    std::vector<std::pair<log_level, std::string>> all;
    log_sink to;
  };

  void write_to(log_sink to) noexcept { to_ = to; }
  void add(log_level level, std::string line) { all_.emplace_back(level, std::move(line)); }
  bool is_empty() const noexcept { return all_.empty(); }
  lines take() noexcept { return {std::exchange(all_, {}), to_}; }
  static void write(const lines& taken) noexcept {
    for (const auto& [level, text] : taken.all) log(taken.to, level, text);
  }

 private:
  std::vector<std::pair<log_level, std::string>> all_;
  log_sink to_;
};

}  // namespace holdfast::base
