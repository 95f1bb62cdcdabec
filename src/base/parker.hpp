// Where one thread sleeps until another has its answer.
#pragma once
#include <atomic>
#include <iterator>

namespace holdfast::core {

// Gets a thread that drives out of what it waits in.
class loop_waker {
 public:
  virtual void wake() noexcept = 0;  // from any thread

 protected:
  ~loop_waker() = default;
};

// Where a sleeper is found: a futex word of its own, or one that it shares under a bit of its own.
// A shared word lives as long as the process.
struct wake_target {
  std::atomic<int>* word = nullptr;
  unsigned bit = 0;  // 0: the word is its own

  void wake() const noexcept;  // whoever sleeps there; harmless when nobody does
};

// What is to be done when its thread has told all events of a turn. Once for each time it is given.
class end_of_batch {
 public:
  virtual void batch_ended() noexcept = 0;

 protected:
  ~end_of_batch() = default;

 private:
  friend class wake_batch;
  end_of_batch* next_ = nullptr;
};

// While it lives, its thread's signals wake nobody who has a shared berth; then all at once. One
// system call wakes up to 32, and they do not push their waker from the processor one by one, which
// costs a third of the rate where there is one.
class wake_batch {
 public:
  explicit wake_batch(unsigned at_most) noexcept;  // so many, then the next ones
  wake_batch(const wake_batch&) = delete;
  wake_batch& operator=(const wake_batch&) = delete;
  ~wake_batch();
  unsigned woken() const noexcept { return woken_; }
  static void then(end_of_batch&) noexcept;  // at once when the thread gathers nothing

 private:
  friend class parker;
  void add(const wake_target&) noexcept;
  void wake() noexcept;
  const unsigned at_most_;
  unsigned woken_ = 0, waiting_ = 0, places_ = 0;
  wake_target gathered_[4];
  end_of_batch* first_ = nullptr;
  wake_batch* const outer_;
};

// One use: one thread parks, one signals. The signal publishes what was written before it, and the
// parker may be gone as soon as it is signalled. A futex without spinning: std::atomic::wait of
// libstdc++ 12 yields up to eight times first, which costs a crowd of waiters a third of its rate.
//
// The thread that parks may drive instead: it waits in a loop of events, and a signal of another
// thread rings the bell that gets it out.
//
//   state   | park    | appoint | signal
//   --------+---------+---------+----------------------------------------------------------------
//   new     | parked  | driving | signalled
//   parked  |         | driving | signalled, and the owner is woken
//   driving |         |         | signalled from inside the loop; else ringing, the bell, signalled
//   ringing | parked  |         |
//
// A signal takes new and parked to signalled in one step. While it is ringing the parker is surely
// alive: its owner returns only when it is signalled.
class parker {
 public:
  void park(const wake_target& shared = {}) noexcept;  // until it is signalled, or appointed
  void signal() noexcept;
  bool signalled() const noexcept { return state_.load(std::memory_order_acquire) == is_signalled; }

  // Makes the owner drive: by the owner itself, or by another while the owner surely has not
  // returned. False when it is signalled. Then another wakes it where it was found, which may come
  // when the parker is gone.
  bool promote(loop_waker&, wake_target* found = nullptr) noexcept;
  bool drives() const noexcept { return state_.load(std::memory_order_acquire) == is_driving; }

  // The bell of the loop that the calling thread runs: signals from inside it need no ring.
  static const loop_waker*& driven_here() noexcept;

 private:
  static constexpr int is_new = 0, is_parked = 1, is_driving = 2, is_ringing = 3, is_signalled = 4;
  std::atomic<int> state_{is_new};
  loop_waker* bell_ = nullptr;  // while it drives
  wake_target berth_;           // while it is parked
};

}  // namespace holdfast::core
