// The two sides of the table: a client of ours and one of Redisson, each with the lock "x".
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "tests/interop/redisson/fixture.hpp"

namespace holdfast::redisson_test {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

inline constexpr milliseconds renewed{0};    // a lease that its client extends until it is released
inline constexpr milliseconds own_ttl{900};  // of those

struct released {
  clock::time_point begun;
  bool was_held = false;
};

class contender {
 public:
  virtual ~contender() = default;
  virtual std::string name() const = 0;
  virtual std::string type() const = 0;       // Redisson's name of it
  virtual void hold(milliseconds lease) = 0;  // of a lock that is free
  virtual bool try_once() = 0;                // and gives it back
  // Waits for the lock on a thread of its own and then holds it, renewed: when that was.
  virtual std::shared_future<clock::time_point> wait() = 0;
  // Whether its thread sleeps until a message comes, as far as can be known. A reader of Redisson
  // misses the message of a writer's release between its last attempt and its sleep.
  virtual bool is_asleep() { return true; }
  virtual released release() = 0;
  // Takes the lock from whoever has it as this type of Redisson's.
  virtual bool force(const std::string& type) = 0;
  virtual void downgrade() = 0;  // what is held for writing is held for reading
};

inline bool is_pending(const std::shared_future<clock::time_point>& f) {
  return f.wait_for(milliseconds{0}) != std::future_status::ready;
}

// Redisson's name for it ("lock", "fair", "read" ...), and our layout for it.
struct kind {
  std::string type, layout;
  std::uint32_t permits = 0;  // of a semaphore
  bool recursive = false;     // ours is a recursive_mutex
};

std::unique_ptr<contender> contender_of_ours(const deployment&, const kind&);
std::unique_ptr<contender> contender_of_redisson(const deployment&, const kind&);

}  // namespace holdfast::redisson_test
