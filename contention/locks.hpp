// The locks for which workers contend.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace holdfast::contention {

inline constexpr std::size_t mutex_count = 2, shared_count = 2;
inline constexpr std::uint32_t permit_count = 3;

struct name_scheme {
  std::string prefix;

  std::string mutex(std::size_t i) const { return prefix + "mutex/" + std::to_string(i); }
  std::string shared(std::size_t i) const { return prefix + "shared/" + std::to_string(i); }
  std::string recursive() const { return prefix + "recursive"; }
  std::string permits() const { return prefix + "permits"; }
  std::string warm_up() const { return prefix + "warm-up"; }
};

}  // namespace holdfast::contention
