// The implementation of a mutex object.
#pragma once
#include <holdfast/lease.hpp>

#include <atomic>
#include <thread>

#include "api/common_share.hpp"
#include "cohort/checked_request.hpp"
#include "cohort/local_lock.hpp"

namespace holdfast::inline v0::detail {

// `current` and `depth` belong to the holder that came through lock(), and pass to the next one
// with the lock.
struct lockable_state {
  lockable_state(local_lock& s, lockable_traits t) noexcept : home(s), traits(t) {}
  void set_defaults(const acquire_options&);  // throws lock_error
  ~lockable_state();

  local_lock& home;  // this object is one of its users
  const lockable_traits traits;
  std::unique_ptr<const lock_defaults> defaults;  // null: none
  unsigned depth = 0;
  // Shares held through lock_shared(): the number of threads with a share of their own; the others
  // use the common one. Each thread knows which it has.
  std::atomic<unsigned> shares{0};
  common_share common;
  bool is_shared() const noexcept { return shares > 0 || common.in_use(); }
  lease current;
  std::atomic<std::thread::id> owner{};
};

}  // namespace holdfast::inline v0::detail
