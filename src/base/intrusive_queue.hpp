// A queue linked through its elements; one pointer wide.
#pragma once
#include <utility>

namespace holdfast::base {

template <class Element, Element* Element::*next>
class intrusive_queue {
 public:
  bool empty() const noexcept { return last_ == nullptr; }

  void push(Element& e) noexcept {
    e.*next = last_ ? std::exchange(last_->*next, &e) : &e;  // the last element points to the first
    last_ = &e;
  }

  Element* pop() noexcept {  // the oldest; null: none
    if (!last_) return nullptr;
    Element* const first = last_->*next;
    last_->*next = first->*next;
    if (first == last_) last_ = nullptr;
    return first;
  }

  Element* take_all() noexcept {  // oldest first, terminated by null
    if (!last_) return nullptr;
    return std::exchange(std::exchange(last_, nullptr)->*next, nullptr);
  }

 private:
  Element* last_ = nullptr;
};

}  // namespace holdfast::base
