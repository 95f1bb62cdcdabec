// An alarm with a thread and a timerfd of its own.
#pragma once
#include <memory>

#include "base/environment.hpp"

namespace holdfast::io {

// The thread starts at the first set(). set() costs a few instructions when the time is later than
// the one set in the kernel, and one system call when it is earlier; the thread re-arms itself for
// later times. Alarms are at least half a millisecond apart. Destroying it from on_alarm() detaches
// the thread. In a fork's child the parent's alarm is dead: set() does nothing and the destructor
// waits for nothing.
//
// While no descriptor is left for the timerfd, the thread sleeps on a condition variable, whose
// clock stops while the machine is suspended: after that an alarm is up to 100 ms late.
class timer_alarm final : public base::alarm {
 public:
  timer_alarm(base::alarm_target&, const char* thread_name);
  timer_alarm(const timer_alarm&) = delete;
  timer_alarm& operator=(const timer_alarm&) = delete;
  ~timer_alarm() override;
  bool set(base::time_point) noexcept override;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace holdfast::io
