#include "testkit/eventually.hpp"

#include <algorithm>
#include <thread>

namespace holdfast::testkit {

bool eventually(const std::function<bool()>& fact, std::chrono::milliseconds bound) {
  using std::chrono::steady_clock;
  constexpr steady_clock::duration shortest = std::chrono::milliseconds{1},
                                   longest = std::chrono::milliseconds{20};
  const auto begin = steady_clock::now();
  while (!fact()) {
    const auto passed = steady_clock::now() - begin;
    if (passed >= bound) return false;
    std::this_thread::sleep_for(std::clamp(passed / 8, shortest, longest));
  }
  return true;
}

}  // namespace holdfast::testkit
