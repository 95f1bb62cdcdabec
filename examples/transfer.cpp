// Transfers between accounts, each of which has a lock of its own.
//
//   transfer [URL]      where the locks are; without it, in a directory of this machine
//
// A transfer acquires both locks or none. The library acquires them in one order, whichever comes
// first in the call, so two transfers in opposite directions do not deadlock.
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace hf = holdfast;
using namespace std::chrono_literals;

constexpr std::size_t accounts = 3;
constexpr int clerks = 4, transfers_of_each = 6, opening_balance = 100;

int main(int argc, char** argv) try {
  const std::string url = argc > 1 ? argv[1] : "file:";
  std::array<std::atomic<int>, accounts> balance;
  for (auto& each : balance) each = opening_balance;
  const auto clerk = [&](std::size_t number) {
    const auto client = hf::client::open(url);
    for (int i = 0; i < transfers_of_each; ++i) {
      const std::size_t from = number % accounts, to = (number + 1 + number / accounts) % accounts;
      const auto both = client.acquire_all(
          {"transfer/" + std::to_string(from), "transfer/" + std::to_string(to)});
      const int left = balance.at(from) - 1, more = balance.at(to) + 1;
      std::this_thread::sleep_for(1ms);  // another clerk would use the same balances
      balance.at(from) = left;
      balance.at(to) = more;
    }
  };
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < clerks; ++i) all.emplace_back(clerk, i);
  }
  int sum = 0;
  for (const auto& each : balance) sum += each;
  std::printf("%d transfers: the accounts have %d together\n", clerks * transfers_of_each, sum);
  return sum == static_cast<int>(accounts) * opening_balance ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "transfer: %s\n", e.what());
  return 1;
}
