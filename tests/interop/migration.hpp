// The two programs of a page on the migration from another library.
#pragma once
#include <string>

namespace holdfast::interop_test {

// Runs examples/from_LIBRARY/Counter.java with its jars and the C++ program at the same time, each
// with `url` as its first argument: together they lose no update.
struct migration {
  std::string library;     // "redisson"
  std::string class_path;  // of its jars
  std::string cpp_program;
  std::string java_url, cpp_url;

  void run() const;
};

// The programs stand in docs/from-LIBRARY.md as they are.
void expect_listings(const std::string& library);

}  // namespace holdfast::interop_test
