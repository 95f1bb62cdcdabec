// Many timers on one alarm, safe from any thread.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "base/timer_heap.hpp"

namespace holdfast::base {

class timer : private heap_timer {
 public:
  // Keeps the owner alive until fire() has returned; false when the owner is being destroyed.
  // Called with the queue's mutex held, once before every fire().
  virtual bool pin() noexcept = 0;
  virtual void fire(time_point now) = 0;

 protected:
  ~timer() = default;

 private:
  friend class timer_queue;
};

// fire() is called with no mutex held, on the alarm's thread, and not again until the timer is
// armed again.
class timer_queue : private alarm_target {
 public:
  timer_queue(environment&, const char* thread_name);
  virtual ~timer_queue() = default;  // the owner has called stop() before
  void stop() noexcept;              // waits for a batch in progress; no timer fires afterwards

  // Keeps an earlier time that is already set. False: the timer is not armed, because the alarm's
  // thread cannot be started and nothing would fire.
  bool arm_no_later(timer&, time_point at);
  void disarm(timer&) noexcept;  // afterwards pin() is not called

 protected:
  virtual void after_batch() {}  // all timers that were due have fired

 private:
  void on_alarm(time_point now) override;
  bool take_due(time_point now);

  environment& env_;
  const char* thread_name_;
  std::mutex mutex_;
  timer_heap armed_;
  std::vector<timer*> due_;  // used by on_alarm() only
  std::unique_ptr<alarm> alarm_;
  bool stopped_ = false;
};

}  // namespace holdfast::base
