// The warnings that the library logs.
#pragma once
#include <holdfast/log.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::testkit {

class heard_warnings {  // of this process, from here to the end of the object
 public:
  heard_warnings() { set_log_hook(hear, this); }
  ~heard_warnings() { set_log_hook(nullptr); }

  std::size_t that_mention(std::string_view word) {
    const std::lock_guard guard(mutex_);
    return static_cast<std::size_t>(std::ranges::count_if(lines_, [&](const std::string& l) {
      return l.find(word) != l.npos;
    }));
  }

  std::string text() {
    const std::lock_guard guard(mutex_);
    std::string all;
    for (const std::string& l : lines_) all += l + '\n';
    return all;
  }
  std::size_t other_lines() {  // of other levels
    const std::lock_guard guard(mutex_);
    return other_lines_;
  }

 private:
  static void hear(log_level level, std::string_view line, void* me) {
    auto& self = *static_cast<heard_warnings*>(me);
    const std::lock_guard guard(self.mutex_);
    if (level == log_level::warning)
      self.lines_.emplace_back(line);
    else
      ++self.other_lines_;
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::size_t other_lines_ = 0;
};

}  // namespace holdfast::testkit
