#include "tests/interop/result_table.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

namespace holdfast::interop_test {

result_table::~result_table() {
  std::printf("\n%-18s %-18s %-22s %-22s %s\n", "layout", "type", "holder -> waiter", "what",
              "result");
  for (const std::string& line : lines_) std::printf("%s\n", line.c_str());
  std::printf("\n");
  std::fflush(stdout);
}

void result_table::add(const std::string& types, const std::string& holder,
                       const std::string& waiter, const std::string& what,
                       const std::string& result) {
  const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
  const int failures = test->result()->total_part_count();
  const std::string shown = std::exchange(failures_, failures) == failures ? result : "FAILED";
  char line[200];
  std::snprintf(line, sizeof line, "%-18s %-18s %-22s %-22s %s", layout_.c_str(), types.c_str(),
                (holder + " -> " + waiter).c_str(), what.c_str(), shown.c_str());
  lines_.push_back(line);
}

}  // namespace holdfast::interop_test
