// One number for all that happened in a schedule, by which two runs are compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace holdfast::sim {

// Depends on every bit that was added and on their order. The same on machines of one byte order.
class digest {
 public:
  void add(std::uint64_t n) noexcept { state_ = mixed((state_ + 0x9e3779b97f4a7c15) ^ n); }
  void add(std::string_view text) noexcept {  // and its length
    const std::size_t size = text.size();
    for (; !text.empty(); text.remove_prefix(text.size() < 8 ? text.size() : 8)) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data(), text.size() < 8 ? text.size() : 8);
      add(eight);
    }
    add(size);
  }
  std::uint64_t value() const noexcept { return state_; }

 private:
  // The last step of SplitMix64 (Steele, Lea, Flood, 2014): no two numbers give the same one.
  static std::uint64_t mixed(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t state_ = 0;
};

}  // namespace holdfast::sim
