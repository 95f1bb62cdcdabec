#include "expected_failure.hpp"

#include <gtest/gtest-spi.h>

#include <chrono>
#include <exception>
#include <utility>

#include "contender.hpp"

namespace contract {

namespace {

// An event that must not come is waited for less long than one that must.
class short_waits {
 public:
  ~short_waits() { generous = before_; }

 private:
  const std::chrono::seconds before_ = std::exchange(generous, std::chrono::seconds{5});
};

}  // namespace

std::string failure_in(const std::function<void()>& play) {
  using reporter = ::testing::ScopedFakeTestPartResultReporter;
  const short_waits while_it_plays;
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
