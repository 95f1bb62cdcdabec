#include "contention/belongings.hpp"

#include <chrono>
#include <filesystem>
#include <iterator>
#include <thread>

namespace holdfast::contention {
namespace {

constexpr std::chrono::milliseconds closing_bound{5000}, closing_glance{10};

std::ptrdiff_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return std::distance(begin(all), end(all));
}

}  // namespace

belongings belongings_now() { return {entries_of("/proc/self/fd"), entries_of("/proc/self/task")}; }

std::string left_since(const belongings& before) {
  const auto until = std::chrono::steady_clock::now() + closing_bound;
  belongings now = belongings_now();
  while (now.exceeds(before) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(closing_glance);
    now = belongings_now();
  }
  if (!now.exceeds(before)) return {};
  return "the closed client left " + std::to_string(now.descriptors) + " descriptors and " +
         std::to_string(now.threads) + " threads, and there were " +
         std::to_string(before.descriptors) + " and " + std::to_string(before.threads) +
         " before it";
}

}  // namespace holdfast::contention
