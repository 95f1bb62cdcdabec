// Makes a blocking system call of another thread return.
#pragma once
#include <time.h>

namespace holdfast::file {

// Constructed by the thread that blocks, which also calls calm(); any thread may call interrupt().
// While it is interrupted, a private real-time signal comes every millisecond and ends the system
// call in progress with EINTR. One signal would not do: it may come just before the call. The
// signal is one whose disposition was the default; it gets an empty handler without SA_RESTART, and
// is sent to no other thread.
class interrupter {
 public:
  interrupter() noexcept;
  ~interrupter();
  interrupter(const interrupter&) = delete;
  interrupter& operator=(const interrupter&) = delete;

  // False when the program uses every real-time signal, or no timer can be created.
  bool ready() const noexcept { return ready_; }
  // Why it is not ready: the errno of timer_create(), or 0 when no signal is left.
  int error() const noexcept { return error_; }
  void interrupt() noexcept;
  void tick() noexcept;  // interrupts fifty times a second, until calm() or interrupt()
  void calm() noexcept;

 private:
  timer_t timer_{};
  int error_ = 0;
  bool ready_ = false;
};

}  // namespace holdfast::file
