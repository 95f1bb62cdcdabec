#include "base/timer_queue.hpp"

#include <algorithm>

namespace holdfast::core {

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
  if (stopped_) return true;
  if (t.index_ != timer::unarmed) {
    if (t.at_ <= at) return true;
    t.at_ = at;
    sift_up(t.index_);
  } else {
    t.at_ = at;
    heap_.push_back(&t);
    t.index_ = static_cast<std::uint32_t>(heap_.size() - 1);
    sift_up(t.index_);
  }
  if (heap_.front() != &t) return true;
  if (!alarm_) alarm_ = env_.make_alarm(*this, thread_name_);
  if (alarm_->set(at)) return true;
  erase(t);
  return false;
}

void timer_queue::disarm(timer& t) noexcept {
  const std::lock_guard guard(mutex_);
  if (t.index_ != timer::unarmed) erase(t);
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
  while (!heap_.empty() && heap_.front()->at_ <= now && due_.size() < batch_max) {
    timer* const t = heap_.front();
    erase(*t);
    if (t->pin()) due_.push_back(t);
  }
  if (!due_.empty()) return true;
  if (alarm_) alarm_->set(heap_.empty() ? never : heap_.front()->at_);
  return false;
}

void timer_queue::place(std::size_t index, timer* t) noexcept {
  heap_[index] = t;
  t->index_ = static_cast<std::uint32_t>(index);
}

void timer_queue::sift_up(std::size_t i) noexcept {
  timer* const t = heap_[i];
  while (i > 0) {
    const std::size_t parent = (i - 1) / 2;
    if (heap_[parent]->at_ <= t->at_) break;
    place(i, heap_[parent]);
    i = parent;
  }
  place(i, t);
}

void timer_queue::sift_down(std::size_t i) noexcept {
  timer* const t = heap_[i];
  for (std::size_t child = 2 * i + 1; child < heap_.size(); child = 2 * i + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1]->at_ < heap_[child]->at_) ++child;
    if (t->at_ <= heap_[child]->at_) break;
    place(i, heap_[child]);
    i = child;
  }
  place(i, t);
}

void timer_queue::erase(timer& t) noexcept {
  const std::size_t hole = t.index_;
  timer* const last = heap_.back();
  heap_.pop_back();
  t.index_ = timer::unarmed;
  if (last == &t) return;
  place(hole, last);
  sift_up(hole);
  sift_down(last->index_);
}

}  // namespace holdfast::core
