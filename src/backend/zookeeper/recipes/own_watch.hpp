// When a holder sets the watch on the node by which it holds the lock: the watch reports the end of
// the node and a request to release. Most holders release sooner, and do not pay for it.
#pragma once
#include <chrono>

#include "base/environment.hpp"

namespace holdfast::zookeeper {

inline constexpr base::duration own_watch_after = std::chrono::milliseconds{100};
inline constexpr base::duration own_watch_spread = std::chrono::milliseconds{50};

}  // namespace holdfast::zookeeper
