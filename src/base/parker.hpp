// Where a thread sleeps until another thread signals that its answer is there.
#pragma once
#include <atomic>

namespace holdfast::base {

// Interrupts a thread that waits in an event loop.
class loop_waker {
 public:
  virtual void wake() noexcept = 0;  // from any thread

 protected:
  ~loop_waker() = default;
};

// Wakes a sleeping thread through its own futex word, or through its bit of a word shared with
// others. A shared word exists as long as the process.
struct wake_target {
  std::atomic<int>* word = nullptr;
  unsigned bit = 0;  // 0: the word is its own

  void wake() const noexcept;  // wakes the thread that sleeps there, if any
};

// Called once per then(), when the calling thread has dispatched the events of one loop round.
class end_of_batch {
 public:
  virtual void batch_ended() noexcept = 0;

 protected:
  ~end_of_batch() = default;

 private:
  friend class wake_batch;
  end_of_batch* next_ = nullptr;
};

// While it lives, its thread's signals do not wake sleepers on shared words one by one; they are
// woken together at its end. One system call wakes up to 32 threads, and they do not preempt the
// waking thread one after the other, which on a single CPU costs a third of the throughput.
class wake_batch {
 public:
  explicit wake_batch(unsigned at_most) noexcept;  // wakes after every `at_most` signals
  wake_batch(const wake_batch&) = delete;
  wake_batch& operator=(const wake_batch&) = delete;
  ~wake_batch();
  unsigned woken() const noexcept { return woken_; }
  // Calls batch_ended() at once when the thread has no batch.
  static void then(end_of_batch&) noexcept;

 private:
  friend class parker;
  void add(const wake_target&) noexcept;
  void wake() noexcept;
  const unsigned at_most_;
  unsigned woken_ = 0, waiting_ = 0, places_ = 0;
  wake_target targets_[4];
  end_of_batch* first_ = nullptr;
  wake_batch* const outer_;
};

// For one use: one thread parks, one thread signals. The signal publishes what was written before
// it, and the owner may destroy the parker as soon as it is signalled. A plain futex: the
// std::atomic::wait of libstdc++ 12 yields up to eight times first, which costs many waiters a
// third of their throughput.
//
// The owner may drive an event loop instead of sleeping; a signal from another thread then wakes
// the loop.
//
//   state     | park    | promote | signal
//   ----------+---------+---------+-------------------------------------------------------------
//   new       | parked  | driving | signalled
//   parked    |         | driving | signalled; the owner is woken
//   driving   |         | false   | inside the loop: signalled; else waking, then signalled
//   waking    | parked  | false   | (in progress)
//   signalled | returns | false   |
//
// new and parked become signalled in one step. While the state is waking the parker is still alive:
// its owner returns only once it is signalled.
class parker {
 public:
  void park(const wake_target& shared = {}) noexcept;  // until it is signalled or promoted
  void signal() noexcept;
  bool signalled() const noexcept { return state_.load(std::memory_order_acquire) == is_signalled; }

  // Makes the owner drive the loop. Called by the owner, or by another thread while the owner
  // surely has not returned. False when it is signalled, or drives already. After true, another
  // thread must wake the owner at `found`; that wake-up may come after the parker is gone.
  bool promote(loop_waker&, wake_target* found = nullptr) noexcept;
  bool drives() const noexcept { return state_.load(std::memory_order_acquire) == is_driving; }

  // The waker of the loop that the calling thread runs: a signal from inside that loop need not
  // wake it.
  static const loop_waker*& loop_of_this_thread() noexcept;

 private:
  static constexpr int is_new = 0, is_parked = 1, is_driving = 2, is_waking = 3, is_signalled = 4;
  std::atomic<int> state_{is_new};
  loop_waker* waker_ = nullptr;  // while it drives
  wake_target sleeps_at_;        // while it is parked
};

}  // namespace holdfast::base
