#include "testkit/asleep.hpp"

#include <fstream>
#include <string>
#include <thread>

namespace holdfast::testkit {
namespace {

// "S 12": the state of the thread, and how often it went to sleep by itself.
std::string sleep_of(pid_t process, pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) +
                       "/status");
  std::string word, state, times;
  while (status >> word) {
    if (word == "State:") status >> state;
    if (word == "voluntary_ctxt_switches:") status >> times;
  }
  return state + " " + times;
}

}  // namespace

bool falls_asleep(pid_t process, pid_t thread, std::chrono::milliseconds bound) {
  constexpr int looks_the_same = 3;
  const auto until = std::chrono::steady_clock::now() + bound;
  std::string before;
  for (int same = 0; std::chrono::steady_clock::now() < until;) {
    const auto state = sleep_of(process, thread);
    same = state == before && state.starts_with("S ") ? same + 1 : 0;
    if (same == looks_the_same) return true;
    before = state;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return false;
}

}  // namespace holdfast::testkit
