// The environment variables of the job.
#pragma once
#include <holdfast/lease.hpp>

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

// The caller's environment without HOLDFAST_URL, without what an outer run has set, and without
// each of `secret_variables`; to which add() then adds.
class job_environment {
 public:
  explicit job_environment(std::span<const std::string> secret_variables);

  void add(std::string_view name, std::string_view value);
  char** get();  // ends with a null pointer; valid until the next add()

 private:
  std::vector<char*> inherited_, all_;
  std::vector<std::string> own_;
};

// "2026-11-20T20:15:03.123Z": when the system's clock will show that this moment has come.
std::string wall_clock_text(lease_clock::time_point);

}  // namespace holdfast::cli
