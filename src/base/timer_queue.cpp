#include "base/timer_queue.hpp"

namespace holdfast::base {

timer_queue::timer_queue(environment& env, const char* thread_name)
    : env_(env), thread_name_(thread_name) {}

void timer_queue::stop() noexcept {
  std::unique_ptr<alarm> ending;
  {
    const std::lock_guard guard(mutex_);
    ending = std::move(alarm_);
    stopped_ = true;
  }
}

bool timer_queue::arm_no_later(timer& t, time_point at) {
  const std::lock_guard guard(mutex_);
  if (stopped_ || t.at() <= at) return true;
  const bool is_earliest = at < armed_.next();
  armed_.set(t, at);
  if (!is_earliest) return true;
  if (!alarm_) alarm_ = env_.make_alarm(*this, thread_name_);
  if (alarm_->set(at)) return true;
  armed_.set(t, never);
  return false;
}

void timer_queue::disarm(timer& t) noexcept {
  const std::lock_guard guard(mutex_);
  armed_.set(t, never);
}

void timer_queue::on_alarm(time_point now) {
  while (take_due(now)) {
    for (timer* t : due_) t->fire(now);
    after_batch();
    now = env_.now();
  }
}

// Fills due_. When nothing is due, sets the alarm for the next timer and returns false.
bool timer_queue::take_due(time_point now) {
  constexpr std::size_t batch_max = 1024;
  const std::lock_guard guard(mutex_);
  due_.clear();
  while (due_.size() < batch_max) {
    timer* const t = static_cast<timer*>(armed_.take_due(now));
    if (!t) break;
    if (t->pin()) due_.push_back(t);
  }
  if (!due_.empty()) return true;
  if (alarm_) alarm_->set(armed_.next());
  return false;
}

}  // namespace holdfast::base
