// An alarm with a thread and a timerfd of its own.
#pragma once
#include <memory>

#include "base/environment.hpp"

namespace holdfast::io {

// The thread starts at the first set(). set() is a few instructions where the time is later than
// the one the kernel knows, and one system call where it is earlier: the thread then sleeps again
// by itself. Rings are at least half a millisecond apart. Destroying from on_alarm() itself lets
// the thread end by itself. In a fork's child an alarm of the parent is dead: set() does nothing
// and destroying waits for nothing.
//
// While no descriptor is left for the timerfd, the thread sleeps on a condition variable, whose
// clock stands still while the machine is suspended: after that a ring is up to 100 ms late.
class timer_alarm final : public core::alarm {
 public:
  timer_alarm(core::alarm_target&, const char* thread_name);
  timer_alarm(const timer_alarm&) = delete;
  timer_alarm& operator=(const timer_alarm&) = delete;
  ~timer_alarm() override;
  bool set(core::time_point) noexcept override;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace holdfast::io
