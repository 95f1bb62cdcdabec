// The internal side of <holdfast/log.hpp>.
#pragma once
#include <holdfast/log.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::base {

// Where the lines of a client go: to its own hook, or without one to the hook of the process.
struct log_sink {
  log_hook hook = nullptr;
  void* context = nullptr;
};

void log(const log_sink&, log_level, std::string_view line) noexcept;
void log(log_level, std::string_view line) noexcept;  // to the hook of the process

// Lines for the log that come up while a mutex is held: written once it is released, since a
// program's log handler may call the library.
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

std::string text_of(duration);  // "850 ms", "4.2 s", "75 s"

}  // namespace holdfast::base
