// A mutex for critical sections of a few instructions.
#pragma once
#include <atomic>

namespace holdfast::base {

// Lockable. A thread that finds it locked sleeps on a futex. A tenth of the size of std::mutex (a
// client has one for each lock name in use), and inline. (Drepper, "Futexes Are Tricky", mutex 2.)
class short_lock {
 public:
  void lock() noexcept {
    int found = is_free;
    if (!state_.compare_exchange_strong(found, is_taken, std::memory_order_acquire,
                                        std::memory_order_relaxed))
      lock_slowly();
  }
  void unlock() noexcept {
    if (state_.exchange(is_free, std::memory_order_release) == is_wanted) wake_one();
  }

 private:
  static constexpr int is_free = 0, is_taken = 1, is_wanted = 2;
  void lock_slowly() noexcept;
  void wake_one() noexcept;
  std::atomic<int> state_{is_free};
};

}  // namespace holdfast::base
