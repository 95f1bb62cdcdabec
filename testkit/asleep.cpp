#include "testkit/asleep.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace holdfast::testkit {
namespace {

// "S 12": asleep, and how often it went to sleep by itself; "" when it is not asleep.
std::string sleep_of(pid_t process, pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                       "/status");
  std::string word, state, times;
  while (status >> word) {
    if (word == "State:") status >> state;
    if (word == "voluntary_ctxt_switches:") status >> times;
  }
  return state == "S" ? "S " + times + " " : "";
}

template <class Look>
bool stays_the_same(Look look, std::chrono::milliseconds bound) {
  constexpr int looks_the_same = 3;
  const auto until = std::chrono::steady_clock::now() + bound;
  std::string before;
  for (int same = 0; std::chrono::steady_clock::now() < until;) {
    const auto state = look();
    same = !state.empty() && state == before ? same + 1 : 0;
    if (same == looks_the_same) return true;
    before = state;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

}  // namespace

bool falls_asleep(pid_t process, pid_t thread, std::chrono::milliseconds bound) {
  return stays_the_same([&] { return sleep_of(process, thread); }, bound);
}

bool all_fall_asleep(std::span<const pid_t> threads, std::chrono::milliseconds bound) {
  const auto sleep_of_all = [&] {
    std::string all;
    for (const pid_t thread : threads) {
      auto one = sleep_of(::getpid(), thread);
      if (one.empty()) return one;
      all += one;
    }
    return all;
  };
  return stays_the_same(sleep_of_all, bound);
}

}  // namespace holdfast::testkit
