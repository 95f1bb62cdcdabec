// Making another thread's blocking system call return.
#pragma once
#include <time.h>

namespace holdfast::file {

// Of one thread of ours, which constructs it and calls calm(); interrupt() is for any thread. While
// it is interrupted, a private real-time signal comes every millisecond and ends the call that is
// under way with EINTR: once would not do, because it may come just before the call. The signal is
// one whose disposition was the default, and gets an empty handler without SA_RESTART; no other
// thread is ever sent it.
class interrupter {
 public:
  interrupter() noexcept;
  ~interrupter();
  interrupter(const interrupter&) = delete;
  interrupter& operator=(const interrupter&) = delete;

  // False when every real-time signal is in use by the program, or no timer is to be had.
  bool ready() const noexcept { return ready_; }
  void interrupt() noexcept;
  void tick() noexcept;  // interrupts fifty times a second, until calm() or interrupt()
  void calm() noexcept;

 private:
  timer_t timer_{};
  bool ready_ = false;
};

}  // namespace holdfast::file
