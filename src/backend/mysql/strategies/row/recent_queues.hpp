// The locks for whose bells several clients queued lately. A claim of such a lock queues before it
// tries: it could overtake the waiter that the bell has just woken, which would find the row held
// and sleep. All claims of a client share this, because its next acquire is often another claim's.
#pragma once
#include <chrono>
#include <cstddef>
#include <unordered_map>

#include "base/environment.hpp"

namespace holdfast::mysql::row {

class recent_queues {
 public:
  // Locks are identified by their order (retrying::strategy::order_of()). Two locks with the same
  // one queue too often, at worst.
  void note(std::size_t lock, base::time_point now) {
    if (!until_.contains(lock))
      std::erase_if(until_, [&](const auto& e) { return e.second < now; });
    until_[lock] = now + kept_for;
  }
  bool has(std::size_t lock, base::time_point now) const noexcept {
    const auto found = until_.find(lock);
    return found != until_.end() && now < found->second;
  }

 private:
  static constexpr std::chrono::milliseconds kept_for{100};

  std::unordered_map<std::size_t, base::time_point> until_;
};

}  // namespace holdfast::mysql::row
