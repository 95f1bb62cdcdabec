// Virtual time: what is to happen, in order. Nobody ever waits.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace holdfast::sim {

using moment = std::chrono::nanoseconds;  // true time since the schedule began

using deed = std::function<void()>;

// A process that may be stopped, or gone.
class deed_gate {
 public:
  virtual bool admits(deed&) = 0;  // false: it never happens, or the gate has taken it

 protected:
  ~deed_gate() = default;
};

class timeline {
 public:
  moment now() const noexcept { return now_; }
  void at(moment t, deed d, deed_gate* gate = nullptr) {
    heap_.push({t < now_ ? now_ : t, ++last_, gate, std::move(d)});
  }
  // Does what is next; false when nothing is. What is due at the same time happens in the order in
  // which it was noted.
  bool step() {
    if (heap_.empty()) return false;
    entry next = std::move(const_cast<entry&>(heap_.top()));  // gone from the heap before it runs
    heap_.pop();
    now_ = next.when;
    if (!next.gate || next.gate->admits(next.what)) next.what();
    return true;
  }
  void pass_to(moment t) noexcept {  // nothing is due until then
    if (t > now_ && next_at() >= t) now_ = t;
  }
  moment next_at() const noexcept { return heap_.empty() ? moment::max() : heap_.top().when; }
  std::uint64_t done() const noexcept { return last_ - heap_.size(); }

 private:
  struct entry {
    moment when;
    std::uint64_t number;
    deed_gate* gate;
    deed what;
    bool operator<(const entry& b) const noexcept {  // the heap's top is its greatest
      return when != b.when ? when > b.when : number > b.number;
    }
  };
  std::priority_queue<entry> heap_;
  moment now_{};
  std::uint64_t last_ = 0;
};

}  // namespace holdfast::sim
