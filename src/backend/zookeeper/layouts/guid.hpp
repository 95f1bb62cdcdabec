// What tells one attempt to get a lock from all others.
#pragma once
#include <cstdint>
#include <string>

#include "base/environment.hpp"

namespace holdfast::zookeeper {

struct guid {  // of one attempt to get a lock: random, never used again
  std::uint64_t high = 0, low = 0;
  explicit operator bool() const noexcept { return (high | low) != 0; }
  bool operator==(const guid&) const noexcept = default;
};
std::string text_of(const guid&);  // canonical: 8-4-4-4-12 hexadecimal digits
guid random_guid(core::environment&);

}  // namespace holdfast::zookeeper
