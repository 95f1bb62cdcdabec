#include "base/timer_heap.hpp"

namespace holdfast::base {

void timer_heap::move(heap_timer& t, time_point to) {
  if (to == never) return erase(t);
  if (!t.is_set()) {
    all_.push_back(&t);
    t.index_ = static_cast<std::uint32_t>(all_.size() - 1);
  }
  t.at_ = to;
  t.order_ = ++last_order_;
  sift_up(t);
  sift_down(t);
}

heap_timer* timer_heap::take_due(time_point now) noexcept {
  if (empty() || all_.front()->at_ > now) return nullptr;
  heap_timer* const first = all_.front();
  erase(*first);
  return first;
}

// The order numbers wrap around: of two, the one that was given out less than half a round ago.
bool timer_heap::is_before(const heap_timer& a, const heap_timer& b) noexcept {
  if (a.at_ != b.at_) return a.at_ < b.at_;
  return static_cast<std::int32_t>(a.order_ - b.order_) < 0;
}

void timer_heap::place(std::size_t index, heap_timer& t) noexcept {
  all_[index] = &t;
  t.index_ = static_cast<std::uint32_t>(index);
}

void timer_heap::sift_up(heap_timer& t) noexcept {
  std::size_t i = t.index_;
  while (i > 0) {
    const std::size_t parent = (i - 1) / 2;
    if (!is_before(t, *all_[parent])) break;
    place(i, *all_[parent]);
    i = parent;
  }
  place(i, t);
}

void timer_heap::sift_down(heap_timer& t) noexcept {
  std::size_t i = t.index_;
  for (std::size_t child = 2 * i + 1; child < all_.size(); child = 2 * i + 1) {
    if (child + 1 < all_.size() && is_before(*all_[child + 1], *all_[child])) ++child;
    if (!is_before(*all_[child], t)) break;
    place(i, *all_[child]);
    i = child;
  }
  place(i, t);
}

void timer_heap::erase(heap_timer& t) noexcept {
  const std::size_t hole = t.index_;
  heap_timer& last = *all_.back();
  all_.pop_back();
  t.index_ = heap_timer::unset;
  if (&last == &t) return;
  place(hole, last);
  sift_up(last);
  sift_down(last);
}

}  // namespace holdfast::base
