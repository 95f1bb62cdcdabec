// Threads that contend for three locks while a test breaks what lies between them and the store.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "history/checker.hpp"
#include "tests/stress/run.hpp"
#include "tests/stress/troupe.hpp"

namespace holdfast::fault_test {

// Each thread plays (stress/player.hpp) through one of the clients, from here to the end of the
// object, where the history of all of them is checked.
class contenders {
 public:
  struct terms {
    std::size_t threads_each = 2;
    std::chrono::milliseconds longest_work{3};
    history::check_options check{};
    int least_granted = 50;
  };
  contenders(const std::vector<std::string>& urls, terms);
  ~contenders();
  void wait_for_plays(std::uint64_t more) const;  // a failure when they do not come

 private:
  const terms terms_;
  const std::uint64_t seed_ = stress::seed_of_run();
  stress::troupe players_;
};

}  // namespace holdfast::fault_test
