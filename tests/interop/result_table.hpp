// The trials between holdfast and another library, printed as a table.
#pragma once
#include <string>
#include <vector>

namespace holdfast::interop_test {

// Printed at the end of its life. Times are shown and never judged.
class result_table {
 public:
  explicit result_table(std::string layout) : layout_(std::move(layout)) {}
  ~result_table();
  result_table(const result_table&) = delete;
  result_table& operator=(const result_table&) = delete;

  // A line; its result is FAILED when a check of this test failed since the line before.
  void add(const std::string& types, const std::string& holder, const std::string& waiter,
           const std::string& what, const std::string& result);

 private:
  std::string layout_;
  std::vector<std::string> lines_;
  int failures_ = 0;
};

}  // namespace holdfast::interop_test
