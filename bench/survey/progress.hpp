// How far the survey is, on the standard error: one line that changes on a terminal.
#pragma once
#include <chrono>
#include <cstddef>
#include <string>

namespace survey {

class progress {
 public:
  explicit progress(std::size_t steps);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  void step(const std::string& what);
  void skip(std::size_t steps) { done_ += steps; }
  void note(const std::string& text);
  bool is_time_to_save();  // every few seconds

 private:
  void show(const std::string& text);

  const std::size_t steps_;
  const bool is_terminal_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point saved_ = began_;
  std::size_t done_ = 0;
};

}  // namespace survey
