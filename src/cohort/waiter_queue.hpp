// The queue of the callers that want a turn.
#pragma once
#include "cohort/waiter.hpp"

namespace holdfast::cohort {
using namespace base;
using namespace seam;

class waiter_queue {  // first in, first served
 public:
  bool is_empty() const noexcept { return first_ == nullptr; }
  bool has_several() const noexcept { return first_ != last_; }
  waiter* first() const noexcept { return first_; }  // null: none
  waiter* last() const noexcept { return last_; }

  void push(waiter& w) noexcept {
    w.is_queued = true;
    w.before = last_;
    w.after = nullptr;
    (last_ ? last_->after : first_) = &w;
    last_ = &w;
  }

  // The first waiter's `before` is not maintained: writing to the second waiter whenever the first
  // one leaves would touch its stack, which with thousands of waiters is in no cache.
  void remove(waiter& w) noexcept {
    waiter* const before = &w == first_ ? nullptr : w.before;
    (before ? before->after : first_) = w.after;
    if (!w.after)
      last_ = before;
    else if (before)
      w.after->before = before;
    w.is_queued = false;
  }

  // With thousands of waiters, the next one's stack has left the cache when its turn comes: the
  // waiter and the frames around it are prefetched while the one before it has its turn.
  void prefetch_first() const noexcept {
    constexpr int line = 64, below = 8 * line, above = 10 * line;
    if (!first_) return;
    const auto* const at = reinterpret_cast<const char*>(first_);
    for (int offset = -below; offset < above; offset += line) __builtin_prefetch(at + offset, 1);
  }

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace holdfast::cohort
