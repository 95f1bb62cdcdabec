// Who holds a lock.
#pragma once
#include <holdfast/options.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// Who holds a lock, as far as the backend tells. Of readers and of holders of permits each is one.
struct holder {
  std::string name;        // of the lock
  std::string owner;       // an opaque id, for break_lock()
  std::string note, host;  // of the first turn under the grant that is held
  lock_mode how = lock_mode::exclusive;
  std::uint32_t permits = 0;  // of a semaphore: those that this holder has, and of how many
  std::uint32_t of = 0;
  std::int64_t token = 0;            // 0: not stored with the lock
  std::int64_t pid = 0;              // 0: not known
  std::chrono::milliseconds held{};  // for how long
  // Until it runs out unless it is renewed; max(): it has no ttl.
  std::chrono::milliseconds left = std::chrono::milliseconds::max();
  int waiting = 0;  // how many wait at the backend; -1: not known
};

}  // namespace v0
}  // namespace holdfast
