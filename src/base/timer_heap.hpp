// When records are to be woken. The records themselves are the heap's nodes, so that a wake-up
// that is set, moved or cancelled allocates nothing but room in one vector.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::base {

class heap_timer {  // a base of the record that is woken; not copied
 public:
  heap_timer() = default;
  heap_timer(const heap_timer&) = delete;
  heap_timer& operator=(const heap_timer&) = delete;

  bool is_set() const noexcept { return index_ != unset; }
  time_point at() const noexcept { return is_set() ? at_ : never; }

 protected:
  ~heap_timer() = default;  // not while it is set

 private:
  friend class timer_heap;
  static constexpr std::uint32_t unset = std::numeric_limits<std::uint32_t>::max();
  time_point at_ = never;
  std::uint32_t index_ = unset;
  std::uint32_t order_ = 0;
};

// A binary heap (Williams, "Algorithm 232: Heapsort", 1964) whose entries know their index. Timers
// of the same time are due in the order in which they were set: a run that is repeated, as the
// simulator does, wakes them in the same order. Not safe from several threads: the caller's lock.
class timer_heap {
 public:
  // Replaces the time set before; `never` cancels. Setting the same time again keeps the order.
  void set(heap_timer& t, time_point at) {
    if (t.at() != at) move(t, at);
  }
  // Removes the earliest timer that is due at `now`. Null: none is.
  heap_timer* take_due(time_point now) noexcept;
  bool empty() const noexcept { return all_.empty(); }
  time_point next() const noexcept { return empty() ? never : all_.front()->at_; }  // or never

 private:
  static bool is_before(const heap_timer&, const heap_timer&) noexcept;
  void move(heap_timer&, time_point to);
  void place(std::size_t index, heap_timer&) noexcept;
  void sift_up(heap_timer&) noexcept;
  void sift_down(heap_timer&) noexcept;
  void erase(heap_timer&) noexcept;

  std::vector<heap_timer*> all_;
  std::uint32_t last_order_ = 0;
};

}  // namespace holdfast::base
