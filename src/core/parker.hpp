// Where one thread sleeps until another has its answer.
#pragma once
#include <atomic>

namespace holdfast::core {

// One use: one thread parks, one signals. The signal publishes what was written before it, and the
// parker may be gone as soon as it is signalled.
class parker {
 public:
  void park() noexcept { state_.wait(0, std::memory_order_acquire); }
  void signal() noexcept {
    state_.store(1, std::memory_order_release);
    state_.notify_one();
  }
  bool signalled() const noexcept { return state_.load(std::memory_order_acquire) != 0; }

 private:
  std::atomic<int> state_{0};
};

}  // namespace holdfast::core
