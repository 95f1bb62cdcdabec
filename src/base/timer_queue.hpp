// Many timers on one alarm.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::core {

class timer {
 public:
  // Keeps the owner alive until fire() has returned; false when the owner is going. Called with the
  // queue's lock held, once for every fire().
  virtual bool pin() noexcept = 0;
  virtual void fire(time_point now) = 0;

 protected:
  ~timer() = default;

 private:
  friend class timer_queue;
  static constexpr std::uint32_t unarmed = std::numeric_limits<std::uint32_t>::max();
  time_point at_ = never;
  std::uint32_t index_ = unarmed;
};

// A binary heap whose entries know their place. Safe from any thread; fire() is called with no lock
// held, on the alarm's thread, and not again until the timer is armed anew.
class timer_queue : private alarm_target {
 public:
  timer_queue(environment&, const char* thread_name);
  virtual ~timer_queue() = default;  // the owner has called stop()
  void stop() noexcept;  // waits for a batch that is under way; nothing fires afterwards

  // An earlier time that is set already stays. False: nothing would fire, because there is no room
  // for the alarm's thread, and the timer is not armed.
  bool arm_no_later(timer&, time_point at);
  void disarm(timer&) noexcept;  // afterwards pin() is not called any more

 protected:
  virtual void after_batch() {}  // all timers that were due have fired

 private:
  void on_alarm(time_point now) override;
  bool take_due(time_point now);
  void place(std::size_t index, timer*) noexcept;
  void sift_up(std::size_t) noexcept;
  void sift_down(std::size_t) noexcept;
  void erase(timer&) noexcept;

  environment& env_;
  const char* thread_name_;
  std::mutex mutex_;
  std::vector<timer*> heap_;
  std::vector<timer*> due_;  // used by on_alarm() only
  std::unique_ptr<alarm> alarm_;
  bool stopped_ = false;
};

}  // namespace holdfast::core
