// What the store knows about one holder of a lock.
#pragma once
#include <holdfast/options.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// One holder of a lock, as far as the store records it. Each reader of a shared lock and each
// holder of permits is a holder of its own. client::holders() and client::inspect() return them.
struct holder {
  std::string name;  // of the lock
  // An opaque id: give it to client::break_lock().
  std::string owner;
  // The note and the host name of the first turn under the grant that is held now.
  std::string note, host;
  lock_mode how = lock_mode::exclusive;
  // Of a semaphore: the permits of this holder, and the semaphore's total; else 0.
  std::uint32_t permits = 0;
  std::uint32_t of = 0;
  std::int64_t token = 0;            // the fencing token; 0: the store does not keep it
  std::int64_t pid = 0;              // of the holder's process; 0: unknown
  std::chrono::milliseconds held{};  // how long the holder has had the lock
  // Time until the lock expires without a renewal; max(): it has no ttl.
  std::chrono::milliseconds left = std::chrono::milliseconds::max();
  int waiting = 0;  // number of waiters at the store; -1: unknown
};

}  // namespace v0
}  // namespace holdfast
