// How late a busy machine runs what is due.
#pragma once
#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace holdfast::redis_test {

class oversleeping {
 public:
  oversleeping()
      : thread_([this](const std::stop_token& stop) {
          using clock = std::chrono::steady_clock;
          constexpr std::chrono::milliseconds nap{1};
          while (!stop.stop_requested()) {
            const auto due = clock::now() + nap;
            std::this_thread::sleep_until(due);
            const auto late = std::chrono::ceil<std::chrono::milliseconds>(clock::now() - due);
            if (late > worst_.load()) worst_ = late;
          }
        }) {}

  std::chrono::milliseconds take() { return worst_.exchange({}); }  // the worst since the last call

 private:
  std::atomic<std::chrono::milliseconds> worst_{};
  std::jthread thread_;
};

}  // namespace holdfast::redis_test
