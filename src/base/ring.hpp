// A first-in first-out queue in one block of memory, which grows by doubling and is never given
// back: in the steady state nothing is allocated.
#pragma once
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace holdfast::base {

template <class T>
class ring {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  T& front() noexcept { return room_[first_]; }
  const T& front() const noexcept { return room_[first_]; }
  T& operator[](std::size_t i) noexcept { return room_[(first_ + i) & (room_.size() - 1)]; }
  const T& operator[](std::size_t i) const noexcept {
    return room_[(first_ + i) & (room_.size() - 1)];
  }
  void push_back(const T& item) {
    if (size_ == room_.size()) grow();
    room_[(first_ + size_) & (room_.size() - 1)] = item;
    ++size_;
  }
  void pop_front() noexcept {
    first_ = (first_ + 1) & (room_.size() - 1);
    --size_;
  }
  void clear() noexcept { first_ = size_ = 0; }
  void swap(ring& other) noexcept {
    room_.swap(other.room_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

 private:
  void grow() {
    constexpr std::size_t least = 16;
    std::vector<T> larger(room_.empty() ? least : room_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    room_.swap(larger);
    first_ = 0;
  }

  std::vector<T> room_;  // a power of two
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace holdfast::base
