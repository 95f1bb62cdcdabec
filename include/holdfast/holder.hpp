// One holder of a lock, as the store reports it.
#pragma once
#include <holdfast/options.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// One holder of a lock, as far as the store records it. Each reader of a shared lock and each
// holder of permits is a holder of its own. client::holders() and client::list() return them.
struct holder {
  std::string name;  // of the lock
  // An opaque id: give it to client::break_lock().
  std::string owner;
  // The note and the host name that the holder gave when it acquired the lock. When the threads of
  // one client hand the lock on, these are of the first of them.
  std::string note, host;
  lock_mode mode = lock_mode::exclusive;  // in which it holds the lock
  // For a semaphore the permits of this holder, and the semaphore's total; otherwise 0.
  std::uint32_t permits = 0;
  std::uint32_t total_permits = 0;
  std::int64_t token = 0;  // the fencing token; 0: the store does not keep it
  std::int64_t pid = 0;    // of the holder's process; 0: unknown
  // The time since the grant. `held_for` and `expires_in` refer to the store's clock at the time of
  // its reply. With file:, zookeeper:, and the strategies for-update and named of mysql:, locks
  // have no ttl, and expires_in is max().
  std::chrono::milliseconds held_for{};
  // Time until the lock expires without a renewal; max(): it has no ttl.
  std::chrono::milliseconds expires_in = std::chrono::milliseconds::max();
  int waiting = 0;  // number of waiters at the store; -1: unknown
};

}  // namespace v0
}  // namespace holdfast
