// How topologies look for a master among servers that tell of each other.
#pragma once
#include "base/environment.hpp"
#include "base/network.hpp"

namespace holdfast::redis {

// How often they are asked: during a failover, and in an outage that lasts for longer than one.
inline constexpr base::duration look_pause = std::chrono::milliseconds{100};
inline constexpr base::duration long_look_pause = std::chrono::seconds{1};
inline constexpr base::duration failover_max = std::chrono::seconds{30};

inline bool is_same_address(const base::address& a, const base::address& b) {
  return base::text_of(a) == base::text_of(b);
}

}  // namespace holdfast::redis
