// Where one thread sleeps until another has its answer.
#pragma once
#include <atomic>

namespace holdfast::core {

// One use: one thread parks, one signals. The signal publishes what was written before it, and the
// parker may be gone as soon as it is signalled. A futex without spinning: std::atomic::wait of
// libstdc++ 12 yields up to eight times first, which costs a crowd of waiters a third of its rate.
class parker {
 public:
  void park() noexcept;
  void signal() noexcept;
  bool signalled() const noexcept { return state_.load(std::memory_order_acquire) == is_signalled; }

 private:
  static constexpr int is_new = 0, is_parked = 1, is_signalled = 2;
  std::atomic<int> state_{is_new};
};

}  // namespace holdfast::core
