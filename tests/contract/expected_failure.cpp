#include "expected_failure.hpp"

#include <gtest/gtest-spi.h>

#include <exception>

namespace contract {

std::string failure_in(const std::function<void()>& play) {
  using reporter = ::testing::ScopedFakeTestPartResultReporter;
  ::testing::TestPartResultArray results;
  std::string thrown;
  {
    const reporter keeps(reporter::INTERCEPT_ALL_THREADS, &results);
    try {
      play();
    } catch (const std::exception& e) {
      thrown = std::string("threw: ") + e.what();
    } catch (...) {
      thrown = "threw something";
    }
  }
  for (int i = 0; i < results.size(); ++i)
    if (results.GetTestPartResult(i).failed()) return results.GetTestPartResult(i).message();
  return thrown;
}

}  // namespace contract
