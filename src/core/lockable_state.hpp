// What is behind a mutex object.
#pragma once
#include <holdfast/lease.hpp>

#include <atomic>
#include <thread>

#include "core/slot.hpp"

namespace holdfast::inline v0::detail {

// `current` and `depth` belong to whoever holds the lock through lock(); passing the lock on passes
// them on.
struct lockable_state {
  lockable_state(slot& s, lock_kind k) noexcept : home(s), kind(k) {}
  ~lockable_state();

  slot& home;  // of which it is a user
  const lock_kind kind;
  unsigned depth = 0;
  std::atomic<unsigned> shares{0};  // through lock_shared(); which thread has them it knows itself
  lease current;
  std::atomic<std::thread::id> owner{};
};

}  // namespace holdfast::inline v0::detail
