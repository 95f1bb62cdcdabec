// The limit of every lock that hands over in the order of arrival inside one process.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>

namespace bench {

// A bare FIFO of condition variables: a thread that finds it taken waits on a condition variable of
// its own, and unlock() gives it to the thread that came first.
class fifo_lock {
 public:
  void lock() {
    std::unique_lock hold(mutex_);
    if (!taken_) {
      taken_ = true;
      return;
    }
    seat& mine = take_seat();
    *last_ = &mine;
    last_ = &mine.next;
    mine.bell.wait(hold, [&mine] { return mine.granted; });
    mine.next = free_;
    free_ = &mine;
  }

  void unlock() {
    seat* heir = nullptr;
    {
      const std::lock_guard hold(mutex_);
      heir = first_;
      if (!heir) {
        taken_ = false;
        return;
      }
      first_ = heir->next;
      if (!first_) last_ = &first_;
      heir->granted = true;
    }
    // With the mutex free, so that the heir need not wait for it: half as fast again on one CPU.
    // By now the heir may be gone and its seat another's, who then looks up once for nothing.
    heir->bell.notify_one();
  }

 private:
  struct seat {
    std::condition_variable bell;
    bool granted = false;
    seat* next = nullptr;
  };

  seat& take_seat() {
    seat* const taken = free_ ? free_ : &seats_.emplace_back();
    if (free_) free_ = free_->next;
    taken->granted = false;
    taken->next = nullptr;
    return *taken;
  }

  std::mutex mutex_;
  bool taken_ = false;
  seat* first_ = nullptr;
  seat** last_ = &first_;
  seat* free_ = nullptr;
  std::deque<seat> seats_;  // a seat lives as long as the lock
};

}  // namespace bench
